// A TF.js model as its io handlers want it. bytesOf(name) has the bytes of a weight file.
export function modelHandler(text, bytesOf) {
  const model = JSON.parse(text);
  const weights = model.weightsManifest.flatMap((group) => group.paths.map((path) => new Uint8Array(bytesOf(path))));
  const weightData = new Uint8Array(weights.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of weights) {
    weightData.set(part, at);
    at += part.length;
  }
  return {
    isLayers: model.format === 'layers-model',
    load: async () => ({
      ...model, weightData: weightData.buffer, weightSpecs: model.weightsManifest.flatMap((group) => group.weights),
    }),
  };
}
