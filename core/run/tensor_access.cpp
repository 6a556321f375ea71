// From tensors to nodes and back.
#include "core/run/context_impl.h"
#include "core/run/scope.h"

namespace tessera {

Hold::Hold(NodePtr node, std::shared_ptr<const void> loan) : node_(std::move(node)), loan_(std::move(loan)) {
  ++node_->holds;
}

Hold::~Hold() {
  if (--node_->holds == 0 && node_.use_count() > 1) node_->context->dropped.add(node_);
}

const NodeInfo& Hold::info() const { return *node_; }

const Held& TensorAccess::held(const Tensor& tensor) {
  if (!tensor.held_) throw Error(ErrorCode::invalid_argument, "tensor: an empty or disposed tensor was used.");
  return tensor.held_;
}

Tensor TensorAccess::tensor(NodePtr node) {
  Node& plain = *node;
  Tensor tensor;
  tensor.held_ = make_hold(std::move(node));
  if (plain.first_hold.expired()) plain.first_hold = tensor.held_;
  note_in_scopes(plain);
  return tensor;
}

Tensor TensorAccess::on_loan(const ContextState& context, const Tensor& tensor) {
  struct Loan {
    Held held;
    std::shared_ptr<const void> storage;
  };
  const NodePtr& lent = node(context, tensor);
  Tensor loan;
  loan.held_ = make_hold(lent, std::make_shared<const Loan>(Loan{held(tensor), lent->value.buffer->lend()}));
  return loan;
}

}  // namespace tessera
