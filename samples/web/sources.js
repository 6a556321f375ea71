// Where frames come from: the built-in scene, which the program draws, a camera, or a file. `frame()` gives
// { image, width, height }, or null for the scene.

export const scene = { name: 'scene', frame: () => null, stop() {} };

class Still {
  constructor(name, bitmap) { Object.assign(this, { name, bitmap }); }
  frame() { return { image: this.bitmap, width: this.bitmap.width, height: this.bitmap.height }; }
  stop() { this.bitmap.close(); }
}

class Moving {
  constructor(name, video, stop) { Object.assign(this, { name, video, stop }); }
  frame() { return { image: this.video, width: this.video.videoWidth, height: this.video.videoHeight }; }
}

async function play(settings) {
  const video = Object.assign(document.createElement('video'), { muted: true, loop: true, playsInline: true }, settings);
  await video.play();
  return video;
}

export async function openCamera(width, height) {
  if (!navigator.mediaDevices)
    throw new Error('There is no camera for this page: browsers give one to pages of HTTPS or of this machine only.');
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { width: { ideal: width }, height: { ideal: height } } });
    const video = await play({ srcObject: stream });
    return new Moving('camera', video, () => stream.getTracks().forEach((track) => track.stop()));
  } catch (error) {
    const reasons = { NotAllowedError: 'it was not allowed', NotFoundError: 'there is none' };
    throw new Error(`The camera cannot be used: ${reasons[error.name] ?? error.message}.`);
  }
}

export async function openFile(file) {
  try {
    if (file.type.startsWith('image/')) return new Still('file', await createImageBitmap(file));
    const address = URL.createObjectURL(file);
    const video = await play({ src: address });
    return new Moving('file', video, () => { video.pause(); URL.revokeObjectURL(address); });
  } catch (error) {
    throw new Error(`${file.name} cannot be shown: ${error.message}`);
  }
}

export async function openPicture(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} is not there.`);
  return new Still('portrait', await createImageBitmap(await response.blob()));
}
