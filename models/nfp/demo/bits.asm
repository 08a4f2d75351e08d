   0:	   .0  immed[gprB_22, 0x3fff]
   8:	   .1  alu[gprB_22, gprB_22, AND, *l$index1]
  10:	   .2  alu[gprA_4, gprB_22, +, *l$index1[2]], gpr_wrboth
  18:	   .3  immed[gprA_5, 0x0], gpr_wrboth
  20:	   .4  alu[gprA_2, --, B, *l$index1[2]], gpr_wrboth
  28:	   .5  immed[gprA_3, 0x0], gpr_wrboth
  30:	   .6  alu[gprA_6, --, B, gprB_2], gpr_wrboth
  38:	   .7  alu[gprA_7, --, B, gprB_3], gpr_wrboth
  40:	   .8  alu[gprA_6, gprA_6, +, 0x4], gpr_wrboth
  48:	   .9  alu[gprA_7, gprA_7, +carry, 0x0], gpr_wrboth
  50:	  .10  alu[--, gprA_4, -, gprB_6]
  58:	  .11  alu[--, gprA_5, -carry, gprB_7]
  60:	  .12  bcc[.200]
  68:	  .13  mem[read32_swap, $xfer_0, gprA_2, 0x0, 1], ctx_swap[sig1]
  70:	  .14  alu[gprA_8, --, B, $xfer_0], gpr_wrboth
  78:	  .15  alu[gprA_1, --, B, gprB_23]
  80:	  .16  immed[gprB_21, 0x1]
  88:	  .17  alu[--, gprA_8, AND, gprB_21]
  90:	  .18  beq[.21]
  98:	  .19  immed[gprA_21, 0x890]
  a0:	  .20  mem[add_imm, $xfer_0, gprA_1, <<8, 0x0, 1], indirect_ref
  a8:	  .21  immed[gprB_21, 0x2]
  b0:	  .22  alu[--, gprA_8, AND, gprB_21]
  b8:	  .23  beq[.26]
  c0:	  .24  immed[gprA_21, 0x890]
  c8:	  .25  mem[add_imm, $xfer_0, gprA_1, <<8, 0x4, 1], indirect_ref
  d0:	  .26  immed[gprB_21, 0x4]
  d8:	  .27  alu[--, gprA_8, AND, gprB_21]
  e0:	  .28  beq[.31]
  e8:	  .29  immed[gprA_21, 0x890]
  f0:	  .30  mem[add_imm, $xfer_0, gprA_1, <<8, 0x8, 1], indirect_ref
  f8:	  .31  immed[gprB_21, 0x8]
 100:	  .32  alu[--, gprA_8, AND, gprB_21]
 108:	  .33  beq[.36]
 110:	  .34  immed[gprA_21, 0x890]
 118:	  .35  mem[add_imm, $xfer_0, gprA_1, <<8, 0xc, 1], indirect_ref
 120:	  .36  immed[gprB_21, 0x10]
 128:	  .37  alu[--, gprA_8, AND, gprB_21]
 130:	  .38  beq[.41]
 138:	  .39  immed[gprA_21, 0x890]
 140:	  .40  mem[add_imm, $xfer_0, gprA_1, <<8, 0x10, 1], indirect_ref
 148:	  .41  immed[gprB_21, 0x20]
 150:	  .42  alu[--, gprA_8, AND, gprB_21]
 158:	  .43  beq[.46]
 160:	  .44  immed[gprA_21, 0x890]
 168:	  .45  mem[add_imm, $xfer_0, gprA_1, <<8, 0x14, 1], indirect_ref
 170:	  .46  immed[gprB_21, 0x40]
 178:	  .47  alu[--, gprA_8, AND, gprB_21]
 180:	  .48  beq[.51]
 188:	  .49  immed[gprA_21, 0x890]
 190:	  .50  mem[add_imm, $xfer_0, gprA_1, <<8, 0x18, 1], indirect_ref
 198:	  .51  immed[gprB_21, 0x80]
 1a0:	  .52  alu[--, gprA_8, AND, gprB_21]
 1a8:	  .53  beq[.56]
 1b0:	  .54  immed[gprA_21, 0x890]
 1b8:	  .55  mem[add_imm, $xfer_0, gprA_1, <<8, 0x1c, 1], indirect_ref
 1c0:	  .56  immed[gprB_21, 0x100]
 1c8:	  .57  alu[--, gprA_8, AND, gprB_21]
 1d0:	  .58  beq[.61]
 1d8:	  .59  immed[gprA_21, 0x890]
 1e0:	  .60  mem[add_imm, $xfer_0, gprA_1, <<8, 0x20, 1], indirect_ref
 1e8:	  .61  immed[gprB_21, 0x200]
 1f0:	  .62  alu[--, gprA_8, AND, gprB_21]
 1f8:	  .63  beq[.66]
 200:	  .64  immed[gprA_21, 0x890]
 208:	  .65  mem[add_imm, $xfer_0, gprA_1, <<8, 0x24, 1], indirect_ref
 210:	  .66  immed[gprB_21, 0x400]
 218:	  .67  alu[--, gprA_8, AND, gprB_21]
 220:	  .68  beq[.71]
 228:	  .69  immed[gprA_21, 0x890]
 230:	  .70  mem[add_imm, $xfer_0, gprA_1, <<8, 0x28, 1], indirect_ref
 238:	  .71  immed[gprB_21, 0x800]
 240:	  .72  alu[--, gprA_8, AND, gprB_21]
 248:	  .73  beq[.76]
 250:	  .74  immed[gprA_21, 0x890]
 258:	  .75  mem[add_imm, $xfer_0, gprA_1, <<8, 0x2c, 1], indirect_ref
 260:	  .76  immed[gprB_21, 0x1000]
 268:	  .77  alu[--, gprA_8, AND, gprB_21]
 270:	  .78  beq[.81]
 278:	  .79  immed[gprA_21, 0x890]
 280:	  .80  mem[add_imm, $xfer_0, gprA_1, <<8, 0x30, 1], indirect_ref
 288:	  .81  immed[gprB_21, 0x2000]
 290:	  .82  alu[--, gprA_8, AND, gprB_21]
 298:	  .83  beq[.86]
 2a0:	  .84  immed[gprA_21, 0x890]
 2a8:	  .85  mem[add_imm, $xfer_0, gprA_1, <<8, 0x34, 1], indirect_ref
 2b0:	  .86  immed[gprB_21, 0x4000]
 2b8:	  .87  alu[--, gprA_8, AND, gprB_21]
 2c0:	  .88  beq[.91]
 2c8:	  .89  immed[gprA_21, 0x890]
 2d0:	  .90  mem[add_imm, $xfer_0, gprA_1, <<8, 0x38, 1], indirect_ref
 2d8:	  .91  immed[gprB_21, 0x8000]
 2e0:	  .92  alu[--, gprA_8, AND, gprB_21]
 2e8:	  .93  beq[.96]
 2f0:	  .94  immed[gprA_21, 0x890]
 2f8:	  .95  mem[add_imm, $xfer_0, gprA_1, <<8, 0x3c, 1], indirect_ref
 300:	  .96  immed[gprB_21, 0x1, <<16]
 308:	  .97  alu[--, gprA_8, AND, gprB_21]
 310:	  .98  beq[.101]
 318:	  .99  immed[gprA_21, 0x890]
 320:	 .100  mem[add_imm, $xfer_0, gprA_1, <<8, 0x40, 1], indirect_ref
 328:	 .101  immed[gprB_21, 0x2, <<16]
 330:	 .102  alu[--, gprA_8, AND, gprB_21]
 338:	 .103  beq[.106]
 340:	 .104  immed[gprA_21, 0x890]
 348:	 .105  mem[add_imm, $xfer_0, gprA_1, <<8, 0x44, 1], indirect_ref
 350:	 .106  immed[gprB_21, 0x4, <<16]
 358:	 .107  alu[--, gprA_8, AND, gprB_21]
 360:	 .108  beq[.111]
 368:	 .109  immed[gprA_21, 0x890]
 370:	 .110  mem[add_imm, $xfer_0, gprA_1, <<8, 0x48, 1], indirect_ref
 378:	 .111  immed[gprB_21, 0x8, <<16]
 380:	 .112  alu[--, gprA_8, AND, gprB_21]
 388:	 .113  beq[.116]
 390:	 .114  immed[gprA_21, 0x890]
 398:	 .115  mem[add_imm, $xfer_0, gprA_1, <<8, 0x4c, 1], indirect_ref
 3a0:	 .116  immed[gprB_21, 0x10, <<16]
 3a8:	 .117  alu[--, gprA_8, AND, gprB_21]
 3b0:	 .118  beq[.121]
 3b8:	 .119  immed[gprA_21, 0x890]
 3c0:	 .120  mem[add_imm, $xfer_0, gprA_1, <<8, 0x50, 1], indirect_ref
 3c8:	 .121  immed[gprB_21, 0x20, <<16]
 3d0:	 .122  alu[--, gprA_8, AND, gprB_21]
 3d8:	 .123  beq[.126]
 3e0:	 .124  immed[gprA_21, 0x890]
 3e8:	 .125  mem[add_imm, $xfer_0, gprA_1, <<8, 0x54, 1], indirect_ref
 3f0:	 .126  immed[gprB_21, 0x40, <<16]
 3f8:	 .127  alu[--, gprA_8, AND, gprB_21]
 400:	 .128  beq[.131]
 408:	 .129  immed[gprA_21, 0x890]
 410:	 .130  mem[add_imm, $xfer_0, gprA_1, <<8, 0x58, 1], indirect_ref
 418:	 .131  immed[gprB_21, 0x80, <<16]
 420:	 .132  alu[--, gprA_8, AND, gprB_21]
 428:	 .133  beq[.136]
 430:	 .134  immed[gprA_21, 0x890]
 438:	 .135  mem[add_imm, $xfer_0, gprA_1, <<8, 0x5c, 1], indirect_ref
 440:	 .136  alu[--, --, B, gprB_8]
 448:	 .137  bne[.198]
 450:	 .138  immed[gprA_21, 0x890]
 458:	 .139  mem[add_imm, $xfer_0, gprA_1, <<8, 0x100, 1], indirect_ref
 460:	 .140  immed[gprA_21, 0x890]
 468:	 .141  mem[add_imm, $xfer_0, gprA_1, <<8, 0x104, 1], indirect_ref
 470:	 .142  immed[gprA_21, 0x890]
 478:	 .143  mem[add_imm, $xfer_0, gprA_1, <<8, 0x108, 1], indirect_ref
 480:	 .144  immed[gprA_21, 0x890]
 488:	 .145  mem[add_imm, $xfer_0, gprA_1, <<8, 0x10c, 1], indirect_ref
 490:	 .146  immed[gprA_21, 0x890]
 498:	 .147  mem[add_imm, $xfer_0, gprA_1, <<8, 0x110, 1], indirect_ref
 4a0:	 .148  immed[gprA_21, 0x890]
 4a8:	 .149  mem[add_imm, $xfer_0, gprA_1, <<8, 0x114, 1], indirect_ref
 4b0:	 .150  immed[gprA_21, 0x890]
 4b8:	 .151  mem[add_imm, $xfer_0, gprA_1, <<8, 0x118, 1], indirect_ref
 4c0:	 .152  immed[gprA_21, 0x890]
 4c8:	 .153  mem[add_imm, $xfer_0, gprA_1, <<8, 0x11c, 1], indirect_ref
 4d0:	 .154  immed[gprA_21, 0x890]
 4d8:	 .155  mem[add_imm, $xfer_0, gprA_1, <<8, 0x120, 1], indirect_ref
 4e0:	 .156  immed[gprA_21, 0x890]
 4e8:	 .157  mem[add_imm, $xfer_0, gprA_1, <<8, 0x124, 1], indirect_ref
 4f0:	 .158  immed[gprA_21, 0x890]
 4f8:	 .159  mem[add_imm, $xfer_0, gprA_1, <<8, 0x128, 1], indirect_ref
 500:	 .160  immed[gprA_21, 0x890]
 508:	 .161  mem[add_imm, $xfer_0, gprA_1, <<8, 0x12c, 1], indirect_ref
 510:	 .162  immed[gprA_21, 0x890]
 518:	 .163  mem[add_imm, $xfer_0, gprA_1, <<8, 0x130, 1], indirect_ref
 520:	 .164  immed[gprA_21, 0x890]
 528:	 .165  mem[add_imm, $xfer_0, gprA_1, <<8, 0x134, 1], indirect_ref
 530:	 .166  immed[gprA_21, 0x890]
 538:	 .167  mem[add_imm, $xfer_0, gprA_1, <<8, 0x138, 1], indirect_ref
 540:	 .168  immed[gprA_21, 0x890]
 548:	 .169  mem[add_imm, $xfer_0, gprA_1, <<8, 0x13c, 1], indirect_ref
 550:	 .170  immed[gprA_21, 0x890]
 558:	 .171  mem[add_imm, $xfer_0, gprA_1, <<8, 0x140, 1], indirect_ref
 560:	 .172  immed[gprA_21, 0x890]
 568:	 .173  mem[add_imm, $xfer_0, gprA_1, <<8, 0x144, 1], indirect_ref
 570:	 .174  immed[gprA_21, 0x890]
 578:	 .175  mem[add_imm, $xfer_0, gprA_1, <<8, 0x148, 1], indirect_ref
 580:	 .176  immed[gprA_21, 0x890]
 588:	 .177  mem[add_imm, $xfer_0, gprA_1, <<8, 0x14c, 1], indirect_ref
 590:	 .178  immed[gprA_21, 0x890]
 598:	 .179  mem[add_imm, $xfer_0, gprA_1, <<8, 0x150, 1], indirect_ref
 5a0:	 .180  immed[gprA_21, 0x890]
 5a8:	 .181  mem[add_imm, $xfer_0, gprA_1, <<8, 0x154, 1], indirect_ref
 5b0:	 .182  immed[gprA_21, 0x890]
 5b8:	 .183  mem[add_imm, $xfer_0, gprA_1, <<8, 0x158, 1], indirect_ref
 5c0:	 .184  immed[gprA_21, 0x890]
 5c8:	 .185  mem[add_imm, $xfer_0, gprA_1, <<8, 0x15c, 1], indirect_ref
 5d0:	 .186  immed[gprA_21, 0x890]
 5d8:	 .187  mem[add_imm, $xfer_0, gprA_1, <<8, 0x160, 1], indirect_ref
 5e0:	 .188  immed[gprA_21, 0x890]
 5e8:	 .189  mem[add_imm, $xfer_0, gprA_1, <<8, 0x164, 1], indirect_ref
 5f0:	 .190  immed[gprA_21, 0x890]
 5f8:	 .191  mem[add_imm, $xfer_0, gprA_1, <<8, 0x168, 1], indirect_ref
 600:	 .192  immed[gprA_21, 0x890]
 608:	 .193  mem[add_imm, $xfer_0, gprA_1, <<8, 0x16c, 1], indirect_ref
 610:	 .194  immed[gprA_21, 0x890]
 618:	 .195  mem[add_imm, $xfer_0, gprA_1, <<8, 0x170, 1], indirect_ref
 620:	 .196  immed[gprA_21, 0x890]
 628:	 .197  mem[add_imm, $xfer_0, gprA_1, <<8, 0x174, 1], indirect_ref
 630:	 .198  immed[gprA_0, 0x1], gpr_wrboth
 638:	 .199  br[.15000]
 640:	 .200  immed[gprA_0, 0x0], gpr_wrboth
 648:	 .201  br[.15000]
