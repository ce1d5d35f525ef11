"""What a reader must know about the study's programs, and why results differ from the tables."""

NOTES = (
    "Our programs stand for four that are not available. They have the published lengths and were "
    "written so that neighbouring words belong to different processors, as the copies of small "
    "pages in tables 2 to 5 show; nothing was fitted to latencies. The table of agreement says how "
    "near they come.",
    "SPEECH costs under updates two to three times what is printed because an update packet costs "
    "10 cycles here and 2.1 in their tables of SPEECH alone; packets and copies agree within a "
    "fifth.",
    "INV with large pages depends on how finely threads alternate: each read finds the page "
    "invalidated if another processor wrote in between. Threads take turns of ten references "
    "here; SPEECH with 64 KB pages costs 2,253 so, 4,860 in turns of one, 394 in turns of a "
    "hundred. Other policies hardly depend on it.",
    "Under updates their SIMPLE replicates 12 MB and their WEATHER 35 MB, several times their "
    "working sets (table of the traces); ours replicate what they touch, 2.4 and 14 MB. So our "
    "replication columns are lower.",
    "In their tables half of the references of FFT, SIMPLE and WEATHER stay at home under UPT.DEL "
    "at every page size from 1 KB on. WEATHER has that in one of its two phases only, SIMPLE "
    "hardly: counters gain less there.",
    "The paper gives no parameters of freezing. Tried were f of 10,000, 100,000 and 1,000,000 with "
    "pages of 1, 4 and 16 KB: freezing helps the re-aligned programs here at each, but for SIMPLE "
    "with 1 KB and the longest. FFT with 4 KB pages costs 3.3, 2.8 and 2.3 under INV.FREEZ, "
    "all-remote 10.8. Theirs may count every write as an invalidation; here only one that takes a "
    "copy away does.",
    "Which remedy is the largest factor is judged over INV and UPT together, where taking updates "
    "and freezing leave UPT as it was. In a first full run these two were averaged over INV alone, "
    "and the claim failed, on their tables too. Over INV alone counters gain more than "
    "re-alignment: 13.1 against 9.6 in their tables, 8.9 against 6.8 here, and freezing 9.6.",
    "Beyond the paper: advice on objects, which a programmer can follow, reaches with 4 KB pages "
    "all of what the re-alignment of words gains in SPEECH (UPT 21.7 as it is, 5.5 re-aligned, 3.3 "
    "advised), half of it in SIMPLE, 71 % under UPT and 11 % under INV in WEATHER, and nothing in "
    "FFT, whose words change hands from pass to pass: a layout is for a whole run.",
)
"""Paragraphs for the page and the ledger."""
