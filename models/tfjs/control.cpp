// Functions of a graph: branches, loops and calls. Branches are taken and loops unrolled while the graph is built, by
// what is known then.
#include <span>

#include "models/tfjs/operators.h"

namespace tessera::tfjs {

namespace {

Results called(const Call& call, const char* function, std::span<const Value> arguments) {
  const onnx::GraphProto& graph = call.graph(function);
  call.expect(graph.inputs.size() == arguments.size(),
              "its '" + std::string(function) + "' takes " + std::to_string(graph.inputs.size()) +
                  " values, but is given " + std::to_string(arguments.size()) + ".");
  onnx::Names names{.outer = &call.names()};
  for (std::size_t i = 0; i < arguments.size(); ++i) names.values[graph.inputs[i].name] = arguments[i];
  call.trace().run(graph, names);
  return call.trace().outputs_of(graph, names);
}

std::vector<Value> arguments_of(const Call& call, int first) {
  std::vector<Value> values;
  for (int i = first; i < call.inputs(); ++i) values.push_back(call.value(i));
  return values;
}

Results branch_taken(const Call& call) {
  return called(call, call.number_of(0) != 0 ? "then_branch" : "else_branch", arguments_of(call, 1));
}

Results loop_unrolled(const Call& call) {
  std::vector<Value> state = arguments_of(call, 0);
  const auto goes_on = [&] {
    const Results condition = called(call, "cond", state);
    call.trace().compute_carried(state, !condition.empty() && condition[0] && !condition[0].is_known());
    call.expect(condition.size() == 1 && condition[0].shape().size() == 1, "its condition is not one value.");
    return call.trace()
               .known(condition[0], description(call.node()) + " has to know whether it goes on")
               .read()
               .front() != 0;
  };
  while (goes_on()) {
    call.trace().count_step();
    Results next = called(call, "body", state);
    call.expect(next.size() == state.size(), "its body does not give as many values as it takes.");
    state = std::move(next);
  }
  return state;
}

Results function_called(const Call& call) { return called(call, "f", arguments_of(call, 0)); }

}  // namespace

const Operators& control_operators() {
  static const Operators rows{
      {"If", 1, branch_taken},
      {"StatelessIf", 1, branch_taken},
      {"While", 1, loop_unrolled},
      {"StatelessWhile", 1, loop_unrolled},
      {"PartitionedCall", 1, function_called},
      {"StatefulPartitionedCall", 1, function_called},
  };
  return rows;
}

}  // namespace tessera::tfjs
