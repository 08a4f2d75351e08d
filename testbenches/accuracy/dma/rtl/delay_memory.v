// The memory `delay` of shared/truth/axi/README.md, written from its description: bursts in order,
// back to back; 31 may be open, and one that ends at t counts as open until t + 1.
`timescale 1ns/1ps
module delay_memory #(
    parameter DATA_WIDTH = 32, ADDR_WIDTH = 32, ID_WIDTH = 8, LATENCY = 1, OPEN = 31
) (
    input wire clk, input wire rst,
    input wire [ID_WIDTH-1:0] s_axi_arid, input wire [ADDR_WIDTH-1:0] s_axi_araddr,
    input wire [7:0] s_axi_arlen, input wire [2:0] s_axi_arsize, input wire [1:0] s_axi_arburst,
    input wire s_axi_arlock, input wire [3:0] s_axi_arcache, input wire [2:0] s_axi_arprot,
    input wire s_axi_arvalid, output wire s_axi_arready,
    output reg [ID_WIDTH-1:0] s_axi_rid, output wire [DATA_WIDTH-1:0] s_axi_rdata,
    output wire [1:0] s_axi_rresp, output reg s_axi_rlast, output reg s_axi_rvalid,
    input wire s_axi_rready,
    input wire [ID_WIDTH-1:0] s_axi_awid, input wire [ADDR_WIDTH-1:0] s_axi_awaddr,
    input wire [7:0] s_axi_awlen, input wire [2:0] s_axi_awsize, input wire [1:0] s_axi_awburst,
    input wire s_axi_awlock, input wire [3:0] s_axi_awcache, input wire [2:0] s_axi_awprot,
    input wire s_axi_awvalid, output wire s_axi_awready,
    input wire [DATA_WIDTH-1:0] s_axi_wdata, input wire [DATA_WIDTH/8-1:0] s_axi_wstrb,
    input wire s_axi_wlast, input wire s_axi_wvalid, output wire s_axi_wready,
    output reg [ID_WIDTH-1:0] s_axi_bid, output wire [1:0] s_axi_bresp,
    output reg s_axi_bvalid, input wire s_axi_bready
);
assign s_axi_rdata = 0;
assign s_axi_rresp = 0;
assign s_axi_bresp = 0;
assign s_axi_wready = 1;

integer now = 0;

// Reads: number `read` is being sent, `left` of its beats are not offered yet.
reg [ID_WIDTH-1:0] r_id[0:255];
reg [7:0] r_len[0:255];
integer r_due[0:255];
integer asked = 0, read = 0, left = 0, r_ended = 0, r_closed = 0;
assign s_axi_arready = asked - r_closed < OPEN;

// Writes
reg [ID_WIDTH-1:0] b_id[0:255];
integer aw_at[0:255], w_at[0:255];
integer named = 0, whole = 0, told = 0, b_ended = 0, b_closed = 0, due;
assign s_axi_awready = named - b_closed < OPEN;

initial begin
    s_axi_rvalid = 0; s_axi_bvalid = 0; s_axi_rlast = 0; s_axi_rid = 0; s_axi_bid = 0;
end

always @(posedge clk) if (!rst) begin
    now <= now + 1;
    r_closed <= r_ended;
    b_closed <= b_ended;
    if (s_axi_rvalid && s_axi_rready && s_axi_rlast) r_ended <= r_ended + 1;
    if (s_axi_bvalid && s_axi_bready) b_ended <= b_ended + 1;
end

// The counters that nothing outside looks at in this clock are changed at once.
integer asked_now = 0, named_now = 0;
always @(posedge clk) if (!rst) begin
    if (s_axi_arvalid && s_axi_arready) begin
        r_id[asked_now % 256] = s_axi_arid;
        r_len[asked_now % 256] = s_axi_arlen;
        r_due[asked_now % 256] = now + LATENCY;
        asked_now = asked_now + 1;
        asked <= asked_now;
    end
    if (!s_axi_rvalid || s_axi_rready) begin
        s_axi_rvalid <= 0;
        if (read < asked_now && r_due[read % 256] <= now + 1) begin
            if (left == 0) left = r_len[read % 256] + 1;
            left = left - 1;
            s_axi_rvalid <= 1;
            s_axi_rid <= r_id[read % 256];
            s_axi_rlast <= left == 0;
            if (left == 0) read = read + 1;
        end
    end
    if (s_axi_awvalid && s_axi_awready) begin
        b_id[named_now % 256] = s_axi_awid;
        aw_at[named_now % 256] = now;
        named_now = named_now + 1;
        named <= named_now;
    end
    if (s_axi_wvalid && s_axi_wlast) begin
        w_at[whole % 256] = now;
        whole = whole + 1;
    end
    if (!s_axi_bvalid || s_axi_bready) begin
        s_axi_bvalid <= 0;
        if (told < named_now && told < whole) begin
            due = aw_at[told % 256] > w_at[told % 256] ? aw_at[told % 256] : w_at[told % 256];
            if (due + LATENCY <= now + 1) begin
                s_axi_bvalid <= 1;
                s_axi_bid <= b_id[told % 256];
                told = told + 1;
            end
        end
    end
end
endmodule
