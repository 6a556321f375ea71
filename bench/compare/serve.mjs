// The side of a peer in JavaScript: lines in, a line of JSON for each, as peer.h tells.
import { createInterface } from 'node:readline';
import { answering } from './answer.mjs';

// make(operation, arguments) gives {run, result, free}.
export async function serve(device, make) {
  console.log(JSON.stringify({ device }));
  const answer = answering(make);
  for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await answer(line)));
  process.exit(0);
}

// Whatever else a library prints goes beside the answers.
export function keepAnswersClean() {
  for (const name of ['info', 'warn', 'debug']) console[name] = console.error;
}
