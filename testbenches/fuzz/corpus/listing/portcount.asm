   0:	   .0  immed[gprB_22, 0x3fff]
   8:	   .1  alu[gprB_22, gprB_22, AND, *l$index1]
  10:	   .2  alu[gprA_4, gprB_22, +, *l$index1[2]], gpr_wrboth
  18:	   .3  immed[gprA_5, 0x0], gpr_wrboth
  20:	   .4  alu[gprA_2, --, B, *l$index1[2]], gpr_wrboth
  28:	   .5  immed[gprA_3, 0x0], gpr_wrboth
  30:	   .6  alu[gprA_6, --, B, gprB_2], gpr_wrboth
  38:	   .7  alu[gprA_7, --, B, gprB_3], gpr_wrboth
  40:	   .8  alu[gprA_6, gprA_6, +, 0x2a], gpr_wrboth
  48:	   .9  alu[gprA_7, gprA_7, +carry, 0x0], gpr_wrboth
  50:	  .10  alu[--, gprA_4, -, gprB_6]
  58:	  .11  alu[--, gprA_5, -carry, gprB_7]
  60:	  .12  bcc[.45]
  68:	  .13  mem[read32_swap, $xfer_0, gprA_2, 0xc, 7], ctx_swap[sig1]
  70:	  .14  ld_field_w_clr[gprA_6, 0011, $xfer_0], gpr_wrboth
  78:	  .15  alu[--, gprA_6, XOR, 0x8]
  80:	  .16  bne[.45]
  88:	  .17  ld_field_w_clr[gprA_6, 0001, $xfer_2, >>24], gpr_wrboth
  90:	  .18  alu[--, gprA_6, XOR, 0x11]
  98:	  .19  bne[.45]
  a0:	  .20  ld_field_w_clr[gprA_6, 0011, $xfer_6], gpr_wrboth
  a8:	  .21  immed[gprB_21, 0x3500]
  b0:	  .22  alu[--, gprA_6, XOR, gprB_21]
  b8:	  .23  beq[.29]
  c0:	  .24  immed[gprB_21, 0x7b00]
  c8:	  .25  alu[--, gprA_6, XOR, gprB_21]
  d0:	  .26  bne[.45]
  d8:	  .27  immed[gprA_8, 0x4], gpr_wrboth
  e0:	  .28  br[.30]
  e8:	  .29  immed[gprA_8, 0x0], gpr_wrboth
  f0:	  .30  alu[gprA_1, --, B, gprB_23]
  f8:	  .31  immed[gprA_21, 0x890]
 100:	  .32  immed[gprB_9, 0x1]
 108:	  .33  ld_field[gprA_21, 1100, gprB_9, <<16]
 110:	  .34  mem[add_imm, $xfer_0, gprA_1, <<8, gprB_8, 1], indirect_ref
 118:	  .35  alu[gprA_6, --, B, gprB_2], gpr_wrboth
 120:	  .36  alu[gprA_7, --, B, gprB_3], gpr_wrboth
 128:	  .37  alu[gprA_6, gprA_6, +, 0x60], gpr_wrboth
 130:	  .38  alu[gprA_7, gprA_7, +carry, 0x0], gpr_wrboth
 138:	  .39  alu[--, gprA_4, -, gprB_6]
 140:	  .40  alu[--, gprA_5, -carry, gprB_7]
 148:	  .41  bcc[.45]
 150:	  .42  mem[read32_swap, $xfer_0, gprA_1, <<8, 0x10, 1], ctx_swap[sig1]
 158:	  .43  alu[--, --, B, $xfer_0]
 160:	  .44  beq[.47]
 168:	  .45  immed[gprA_0, 0x1], gpr_wrboth
 170:	  .46  br[.15000]
 178:	  .47  immed[gprA_0, 0x0], gpr_wrboth
 180:	  .48  br[.15000]
