// What Menshen's RTL takes from Xilinx: block RAMs that are read in two clocks, as its scripts
// configure them, and a CAM that compares in one. No state machine waits for either.
`timescale 1ns / 1ps
module stand_in_ram #(parameter WIDTH = 1, parameter BITS = 5)
    (input clka, input ena, input wea, input [BITS-1:0] addra, input [WIDTH-1:0] dina,
     input clkb, input enb, input [BITS-1:0] addrb, output reg [WIDTH-1:0] doutb);
    reg [WIDTH-1:0] words [0:(1<<BITS)-1], read;
    integer k;
    initial for (k = 0; k < 1 << BITS; k = k + 1) words[k] = 0;
    always @(posedge clka) if (ena && wea) words[addra] <= dina;
    always @(posedge clkb) if (enb) begin
        read <= words[addrb];
        doutb <= read;
    end
endmodule

`define RAM(NAME, WIDTH_, BITS_) \
module NAME (input clka, input ena, input wea, input [BITS_-1:0] addra, input [WIDTH_-1:0] dina, \
             input clkb, input enb, input [BITS_-1:0] addrb, output [WIDTH_-1:0] doutb); \
    stand_in_ram #(.WIDTH(WIDTH_), .BITS(BITS_)) ram (.*); \
endmodule

`RAM(blk_mem_gen_0, 32, 5)
`RAM(blk_mem_gen_1, 625, 4)
`RAM(blk_mem_gen_2, 38, 5)
`RAM(blk_mem_gen_3, 193, 5)
`RAM(page_tbl_16w_32d, 16, 5)
`RAM(parse_act_ram_ip, 160, 5)

module cam_top #(parameter C_DEPTH = 16, parameter C_WIDTH = 205, parameter C_MEM_INIT = 0)
    (input CLK, input EN, input WE, input [3:0] WR_ADDR, input [C_WIDTH-1:0] DIN,
     input [C_WIDTH-1:0] DATA_MASK, input [C_WIDTH-1:0] CMP_DIN, input [C_WIDTH-1:0] CMP_DATA_MASK,
     output BUSY, output reg MATCH, output reg [3:0] MATCH_ADDR);
    reg [C_WIDTH-1:0] words [0:C_DEPTH-1];
    reg [C_DEPTH-1:0] used = 0;
    integer k;
    assign BUSY = 0;
    always @(posedge CLK) if (EN) begin
        if (WE) begin
            words[WR_ADDR] <= DIN;
            used[WR_ADDR] <= 1;
        end
        MATCH <= 0;
        MATCH_ADDR <= 0;
        for (k = C_DEPTH - 1; k >= 0; k = k - 1) if (used[k] && words[k] == CMP_DIN) begin
            MATCH <= 1;
            MATCH_ADDR <= k[3:0];
        end
    end
endmodule
