// cooperative.wgsl for cores in octets: subgroups consist of whole octets, in order.
var<private> octet_first: u32;  // the place of the octet in its subgroup
var<private> row_start: u32;  // the first texel of the row that a core goes along: see Access::row

@compute @workgroup_size(workgroup_size)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_id) local: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  octet_first = lane & 0xfffffff8u;
//@call
}
