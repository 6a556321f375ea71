// Cores whose workgroups make several texels together. The core is called with the number of its workgroup, which may be
// past the last one that has work, and of its invocation; for each texel that an invocation makes, it sets `texel` and
// calls finish().
@compute @workgroup_size(workgroup_size)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_id) local: vec3u) {
//@call
}
