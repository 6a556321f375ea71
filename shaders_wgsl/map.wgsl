// map: each invocation computes two texels of the output, a workgroup apart, such that neighbours read neighbours.
@compute @workgroup_size(workgroup_size)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_id) local: vec3u) {
  texel = 2u * (id.y * groups.x * workgroup_size + id.x) - local.x;
  word_0 = word(0u);
  if (texel > (word_0 - 1u) / 4u) { return; }
//@call
}
