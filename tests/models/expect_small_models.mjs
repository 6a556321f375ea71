// expect_small_models.mjs PACKAGES: writes small_models.json, small TF.js models and what TF.js computes with them on its
// CPU backend. PACKAGES is a folder in which
//   npm install --ignore-scripts @tensorflow/tfjs-layers@4.22.0 @tensorflow/tfjs-converter@4.22.0 \
//     @tensorflow/tfjs-core@4.22.0 @tensorflow/tfjs-backend-cpu@4.22.0
// was run. tfjs_small_models_test compares tessera with the file.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(join(process.argv[2], 'node_modules/'));
const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const layers = require('@tensorflow/tfjs-layers');
const converter = require('@tensorflow/tfjs-converter');
await tf.setBackend('cpu');

const round = (x) => Math.round(x * 1e6) / 1e6;
const wave = (count, phase) => Array.from({ length: count }, (_, i) => round(Math.sin(i * 1.7 + phase)));
const size = (shape) => shape.reduce((product, each) => product * each, 1);
const layer = (kind, name, config = {}) => ({ class_name: kind, config: { name, ...config } });
let phase = 0;
const weight = (name, ...shape) => ({ name, shape, dtype: 'float32', values: wave(size(shape), (phase += 0.3)) });
const recurrentWeights = (name, gates, features, biases = 1) => [
  weight(`${name}/kernel`, features, gates * 2), weight(`${name}/recurrent_kernel`, 2, gates * 2),
  weight(`${name}/bias`, ...(biases === 1 ? [gates * 2] : [2, gates * 2]))];
const sequential = (batch_input_shape, list) => {
  list[0].config.batch_input_shape = batch_input_shape;
  return { model_config: { class_name: 'Sequential', config: { name: 'm', layers: list } }, keras_version: 'tfjs-layers 4.22.0', backend: 'tensor_flow.js' };
};

// [2,3,2]; steps of 9 are to be masked: one within a sequence, one at the end.
const steps = { shape: [2, 3, 2], dtype: 'float32', values: [0.5, -1, 9, 9, 0.25, 2, 1, 9, -0.5, 0.75, 9, 9] };
const words = { shape: [2, 3], dtype: 'float32', values: [1, 0, 2, 0, 2, 0] };
const masking = layer('Masking', 'mask', { mask_value: 9 });
const sigmoid = { units: 2, recurrent_activation: 'sigmoid', activation: 'tanh', use_bias: true };

const cases = [
  { name: 'masking alone', topology: sequential([null, 3, 2], [masking]), weights: [], calls: [steps] },
  { name: 'masked LSTM', topology: sequential([null, 3, 2], [masking, layer('LSTM', 'l', sigmoid)]),
    weights: recurrentWeights('l', 4, 2), calls: [steps] },
  { name: 'masked GRU, all steps, backwards',
    topology: sequential([null, 3, 2], [masking, layer('GRU', 'g', { ...sigmoid, return_sequences: true, go_backwards: true })]),
    weights: recurrentWeights('g', 3, 2), calls: [steps] },
  { name: 'a mask that Dense and a first layer pass on',
    topology: sequential([null, 3, 2], [masking, layer('Dense', 'd', { units: 2, activation: 'tanh', use_bias: true }),
      layer('SimpleRNN', 'a', { units: 2, activation: 'tanh', use_bias: true, return_sequences: true }), layer('LSTM', 'b', sigmoid)]),
    weights: [weight('d/kernel', 2, 2), weight('d/bias', 2), ...recurrentWeights('a', 1, 2), ...recurrentWeights('b', 4, 2)],
    calls: [steps] },
  { name: 'masked in both directions',
    topology: sequential([null, 3, 2], [masking, layer('Bidirectional', 'b', { layer: layer('LSTM', 'l', { ...sigmoid, return_sequences: true }), merge_mode: 'concat' })]),
    weights: [...recurrentWeights('b/forward_l', 4, 2), ...recurrentWeights('b/backward_l', 4, 2)], calls: [steps] },
  { name: 'words without a zero',
    topology: sequential([null, 3], [layer('Embedding', 'e', { input_dim: 3, output_dim: 2, mask_zero: true }), layer('LSTM', 'l', sigmoid)]),
    weights: [weight('e/embeddings', 3, 2), ...recurrentWeights('l', 4, 2)], calls: [words] },
  { name: 'states that are kept between calls, and reset before the third',
    topology: sequential([2, 3, 2], [layer('LSTM', 'a', { ...sigmoid, return_sequences: true, stateful: true }), layer('GRU', 'b', { ...sigmoid, stateful: true })]),
    weights: [...recurrentWeights('a', 4, 2), ...recurrentWeights('b', 3, 2)], calls: [steps, steps, steps], resets: [false, false, true] },
  { name: 'masked steps and kept states', topology: sequential([2, 3, 2], [masking, layer('SimpleRNN', 'r', { units: 2, activation: 'tanh', use_bias: true, stateful: true })]),
    weights: recurrentWeights('r', 1, 2), calls: [steps, steps] },
];

// ---- graphs: the loop of a converted recurrent network, x [2,3,2], which keeps its steps in lists
const node = (op, name, input = [], attr = {}) => ({ name, op, input, attr });
const type = (name) => ({ type: name });
const shape = (...dims) => ({ shape: { dim: dims.map((each) => ({ size: String(each) })) } });
const integer = (name, values, ...dims) => ({ name, shape: dims, dtype: 'int32', values });
const constant = (name) => node('Const', name, [], { dtype: type('DT_INT32') });
const floats = { element_dtype: type('DT_FLOAT') }, shaped = { ...floats, shape_type: type('DT_INT32') };
const func = (name, args, results, nodes) => ({
  signature: { name, inputArg: args.map((each) => ({ name: each })), outputArg: Object.keys(results).map((each) => ({ name: each })) },
  nodeDef: nodes, ret: results });
const loop = {
  node: [
    node('Placeholder', 'x', [], { dtype: type('DT_FLOAT'), shape: shape(2, 3, 2) }),
    constant('time_major'), node('Transpose', 'steps', ['x', 'time_major'], { T: type('DT_FLOAT'), Tperm: type('DT_INT32') }),
    constant('element_shape'), constant('zero'), constant('count'),
    node('TensorListFromTensor', 'from', ['steps', 'element_shape'], shaped),
    node('TensorListReserve', 'to', ['element_shape', 'count'], shaped),
    node('Const', 'start', [], { dtype: type('DT_FLOAT') }),
    node('StatelessWhile', 'while', ['zero', 'start', 'from', 'to'], { cond: { func: { name: 'goes_on' } }, body: { func: { name: 'step' } } }),
    node('TensorListStack', 'stacked', ['while:3', 'element_shape'], { ...floats, num_elements: { i: '3' } }),
    node('Identity', 'y', ['stacked'], { T: type('DT_FLOAT') }),
    node('TensorListLength', 'length', ['while:3']), node('Identity', 'n', ['length'], { T: type('DT_INT32') }),
  ],
  library: { function: [
    func('goes_on', ['t', 'h', 'a', 'b'], { out: 'less:z:0' },
      [constant('goes_on/count'), node('Less', 'less', ['t', 'goes_on/count:output:0'], { T: type('DT_INT32') })]),
    func('step', ['t', 'h', 'a', 'b'], { t_out: 'next:z:0', h_out: 'new:y:0', a_out: 'same:output:0', b_out: 'written:output_handle:0' },
      [constant('step/one'), constant('step/element_shape'),
        node('AddV2', 'next', ['t', 'step/one:output:0'], { T: type('DT_INT32') }),
        node('TensorListGetItem', 'read', ['a', 't', 'step/element_shape:output:0'], floats),
        node('AddV2', 'sum', ['read:item:0', 'h'], { T: type('DT_FLOAT') }), node('Tanh', 'new', ['sum:z:0'], { T: type('DT_FLOAT') }),
        node('TensorListSetItem', 'written', ['b', 't', 'new:y:0'], floats),
        node('Identity', 'same', ['a'], { T: type('DT_VARIANT') })]),
  ] },
  versions: { producer: 987 },
};
cases.push({ name: 'lists of tensors in a loop', topology: loop, calls: [steps],
  weights: [integer('time_major', [1, 0, 2], 3), integer('element_shape', [2, 2], 2), integer('zero', [0]), integer('count', [3]),
    { ...weight('start', 2, 2) }, integer('goes_on/count', [3]), integer('step/one', [1]), integer('step/element_shape', [2, 2], 2)] });

async function run({ topology, weights, calls, resets = [] }) {
  const weightData = Buffer.concat(weights.map(({ dtype, values }) =>
    Buffer.from((dtype === 'int32' ? Int32Array : Float32Array).from(values).buffer)));
  const artifacts = { modelTopology: topology, weightSpecs: weights.map(({ name, shape, dtype }) => ({ name, shape, dtype })),
    weightData: new Uint8Array(weightData).buffer };
  const handler = { load: async () => artifacts };
  const inputs = calls.map((x) => tf.tensor(x.values, x.shape, x.dtype));
  const results = [];
  if (topology.node) {
    const model = new converter.GraphModel(handler);
    await model.load();
    for (const x of inputs) {
      const [y, n] = await model.executeAsync({ x }, ['y', 'n']);
      results.push({ y: Array.from(y.dataSync(), round), n: Array.from(n.dataSync()) });
    }
  } else {
    const model = await layers.loadLayersModel(handler);
    for (const [i, x] of inputs.entries()) {
      if (resets[i]) model.resetStates();
      results.push({ '': Array.from(model.predict(x).dataSync(), round) });
    }
  }
  return results;
}

for (const each of cases) each.results = await run(each);
const file = join(dirname(fileURLToPath(import.meta.url)), 'small_models.json');
writeFileSync(file, `[\n${cases.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
