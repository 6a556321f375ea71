// Runs workloads on all peers in turns, so that whatever else the machine does meets all of them alike.

export const median = (values) => {
  const ordered = [...values].sort((a, b) => a - b), middle = ordered.length >> 1;
  return ordered.length % 2 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
};

// Which peers computed something else than most: by the root mean square, or, for a network, by elements beside those
// of a reference.
function differing(answers, reference) {
  const differ = {};
  const able = Object.entries(answers).filter(([, answer]) => answer.check !== undefined);
  const usual = median(able.map(([, answer]) => answer.check));
  for (const [peer, { check, count, sample }] of able) {
    const expected = answers[reference]?.sample;
    if (!expected && !(Math.abs(check - usual) <= 1e-4 * Math.abs(usual))) differ[peer] = `wrong: ${check}, others have ${usual}`;
    if (!expected) continue;
    const worst = Math.max(...sample.map((value, i) => Math.abs(value - expected[i]) / Math.max(1, Math.abs(expected[i]))));
    if (count !== answers[reference].count || !(worst <= 1e-3)) differ[peer] = `wrong: differs by ${worst} from ${reference}`;
  }
  return differ;
}

// {name, times: peer -> median in ms, cpu: peer -> mean of CPU time in ms, errors: peer -> text, facts: peer -> object}
export async function measure(peers, workload, { rounds, budget, patience, reference, facts }) {
  const result = { ...workload, times: {}, cpu: {}, errors: {}, facts: {} }, answers = {}, samples = {}, counts = {}, cpu = {};
  for (const peer of peers) {
    const answer = await peer.ask(`check 0 ${workload.spec}`);
    if (answer.error) result.errors[peer.name] = answer.error;
    else answers[peer.name] = answer;
  }
  Object.assign(result.errors, differing(answers, reference?.(workload)));

  const racing = peers.filter((peer) => answers[peer.name] && !result.errors[peer.name] && peer.name !== 'ort-cpu');
  const run = async (peer, count) => {
    const { ms, cpu_ms, error } = await peer.ask(`run ${count} ${workload.spec}`);
    if (error) result.errors[peer.name] = error;
    cpu[peer.name] = (cpu[peer.name] ?? 0) + cpu_ms;
    return ms ?? [];
  };
  for (const peer of racing) { // once, then for as long as a round: caches fill, and kernels settle
    const [first] = await run(peer, 1);
    if (first === undefined) continue;
    const warm = first > patience ? [first] : await run(peer, Math.max(1, Math.min(20, Math.floor(budget / first))));
    if (warm.length === 0) continue;
    counts[peer.name] = Math.max(1, Math.min(20, Math.floor(budget / median(warm))));
    samples[peer.name] = [];
    cpu[peer.name] = 0;
  }
  for (let round = 0; round < rounds; round++)
    for (let i = 0; i < racing.length; i++) {
      const peer = racing[(i + round) % racing.length], taken = samples[peer.name];
      const isDone = taken && taken.reduce((a, b) => a + b, 0) > patience;
      if (taken && !isDone && !result.errors[peer.name]) taken.push(...(await run(peer, counts[peer.name])));
    }
  for (const [peer, taken] of Object.entries(samples).filter(([name, { length }]) => length > 0 && !result.errors[name])) {
    result.times[peer] = median(taken);
    if (cpu[peer] > 0) result.cpu[peer] = cpu[peer] / taken.length;
  }
  if (facts)
    for (const peer of racing.filter(({ name }) => name.startsWith('tessera'))) {
      const told = [];
      for (let i = 0; i < 3; i++) told.push(await peer.ask(`facts 0 ${workload.spec}`));
      result.facts[peer.name] = Object.fromEntries(Object.keys(told[0]).map((key) => [key, median(told.map((each) => each[key]))]));
    }
  return result;
}
