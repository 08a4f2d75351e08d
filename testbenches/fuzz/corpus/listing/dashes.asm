   0:	   .0  immed[gprB_22, 0x3fff]
   8:	   .1  alu[gprB_22, gprB_22, AND, *l$index1]
  10:	   .2  alu[gprA_4, gprB_22, +, *l$index1[2]], gpr_wrboth
  18:	   .3  immed[gprA_5, 0x0], gpr_wrboth
  20:	   .4  alu[gprA_2, --, B, *l$index1[2]], gpr_wrboth
  28:	   .5  immed[gprA_3, 0x0], gpr_wrboth
  30:	   .6  immed[gprA_8, 0x0], gpr_wrboth
  38:	   .7  immed[gprA_9, 0x0], gpr_wrboth
  40:	   .8  alu[gprA_10, gprA_2, +, gprB_8], gpr_wrboth
  48:	   .9  alu[gprA_11, --, B, gprB_3], gpr_wrboth
  50:	  .10  alu[gprA_12, gprA_10, +, 0x1], gpr_wrboth
  58:	  .11  immed[gprA_13, 0x0], gpr_wrboth
  60:	  .12  alu[--, gprA_4, -, gprB_12]
  68:	  .13  alu[--, gprA_5, -carry, gprB_13]
  70:	  .14  bcc[.25]
  78:	  .15  mem[read32_swap, $xfer_0, gprA_10, 0x0, 1], ctx_swap[sig1]
  80:	  .16  ld_field_w_clr[gprA_14, 0001, $xfer_0], gpr_wrboth
  88:	  .17  alu[--, gprA_14, XOR, 0x20]
  90:	  .18  bne[.22]
  98:	  .19  immed[gprA_14, 0x2d], gpr_wrboth
  a0:	  .20  alu[$xfer_0, --, B, gprB_14]
  a8:	  .21  mem[write8_swap, $xfer_0, gprA_10, 0x0, 1], ctx_swap[sig1]
  b0:	  .22  alu[gprA_8, gprA_8, +, 0x1], gpr_wrboth
  b8:	  .23  alu[--, gprA_8, XOR, 0x50]
  c0:	  .24  bne[.8]
  c8:	  .25  immed[gprA_0, 0x1], gpr_wrboth
  d0:	  .26  br[.15000]
  d8:	  .27  immed[gprA_0, 0x0], gpr_wrboth
  e0:	  .28  br[.15000]
