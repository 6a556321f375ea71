// map, and every core that makes its texels one by one: each invocation computes one texel of the output.
@compute @workgroup_size(workgroup_size)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  texel = (group.y * groups.x + group.x) * workgroup_size + local;
  if (texel > (word(0u) - 1u) / 4u) { return; }
//@call
}
