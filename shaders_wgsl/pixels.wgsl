// Every pixel kernel starts with this. backend_webgpu/pixel_text.cpp fills in the lines that begin with //@.

//@constants
//@words
//@bindings
//@functions
//@inputs
//@pixel
//@entry
