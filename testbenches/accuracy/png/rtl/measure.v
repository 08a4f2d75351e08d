// Clocks of hard_png for one file: cycle 0 offers byte 0, and the input is always valid.
//
//   iverilog -o measure measure.v FPGA-PNG-decoder/RTL/*.v
//   vvp measure +file=IMAGE.png +bytes=N +limit=CLOCKS
//
// prints "pixel CLOCK RRGGBBAA" per pixel.
`timescale 1ns / 1ns
module measure;
    reg clk = 0, rstn = 0, istart = 0, ivalid = 0;
    reg [7:0] ibyte = 0, data [0:1048575];
    wire iready, ostart, ovalid;
    wire [2:0] colortype;
    wire [13:0] width;
    wire [31:0] height;
    wire [7:0] r, g, b, a;
    reg [8191:0] name;
    integer file, bytes, limit, got, at = 0, clock = 0;

    hard_png dut (rstn, clk, istart, ivalid, iready, ibyte, ostart, colortype, width, height,
                  ovalid, r, g, b, a);

    always #1 clk = ~clk;

    initial begin
        got = $value$plusargs("file=%s", name);
        got = $value$plusargs("bytes=%d", bytes);
        got = $value$plusargs("limit=%d", limit);
        file = $fopen(name, "rb");
        got = $fread(data, file);
        repeat (4) @(negedge clk);
        rstn = 1;
        @(negedge clk) istart = 1;
        @(negedge clk) istart = 0;
        ivalid = 1;
        ibyte = data[0];
        while (clock < limit && at < bytes + 64) begin
            #0;
            if (ovalid) $display("pixel %0d %02x%02x%02x%02x", clock, r, g, b, a);
            if (ivalid && iready) at = at + 1;
            @(posedge clk);
            @(negedge clk);
            clock = clock + 1;
            ivalid = at < bytes;
            ibyte = at < bytes ? data[at] : 0;
            if (at >= bytes) at = at + 1;
        end
        $finish;
    end
endmodule
