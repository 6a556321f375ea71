// How TF.js's WebGPU backend is waited for, in node and in pages.
export function webgpuDevice(backend) {
  let failure; // a kernel that the device refuses would be zeros, and no error
  backend.device.addEventListener('uncapturederror', (event) => {
    failure ??= event.error.message.split('\n')[0];
    event.preventDefault?.();
  });
  return {
    upload: (tensor) => tensor.dataId && backend.uploadToGPU(tensor.dataId),
    async done() {
      backend.endComputePassEncoder();
      if (backend.commandEncoder) backend.submitQueue();
      await backend.device.queue.onSubmittedWorkDone();
      const message = failure;
      failure = undefined;
      if (message) throw new Error(message);
    },
  };
}
