// map: each invocation computes two texels of the output, such that eight neighbours read neighbours, and go on with the
// eight that follow: memory is read in order, whichever octets a device runs one after the other.
@compute @workgroup_size(workgroup_size)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_id) local: vec3u) {
  texel = 2u * (id.y * groups.x * workgroup_size + id.x) - local.x % texels_apart;
  word_0 = word(0u);
  if (texel > (word_0 - 1u) / 4u) { return; }
//@call
}
