"""What a reader must know about the study's programs, and why results differ from the tables."""

NOTES = (
    "Our programs stand for four that are not available. They have the published lengths and were "
    "written so that neighbouring words belong to different processors, as the copies of small "
    "pages in tables 2 to 5 show; nothing was fitted to latencies. The table of agreement says "
    "how near they come.",
    "SPEECH costs under updates two to three times what is printed because an update packet costs "
    "10 cycles here and 2.1 in their tables of SPEECH alone; packets and copies agree within a "
    "fifth.",
    "INV with large pages depends on how finely threads alternate: each read finds the page "
    "invalidated if another processor wrote in between. Threads take turns of one reference here; "
    "SPEECH with 64 KB pages costs 3,408 so, 3,387 if it is recorded so, and 1,427 in the turns "
    "of ten in which it was recorded. Other policies hardly depend on it.",
    "Under updates their SIMPLE replicates 12 MB and their WEATHER 35 MB, several times their "
    "working sets (table of the traces); ours replicate what they touch, 2.4 and 5.3 MB. So our "
    "replication columns are lower.",
    "In their tables half of the references of FFT, SIMPLE and WEATHER stay at home under UPT.DEL "
    "at every page size from 1 KB on. Here 70 % do in FFT, 75 % in SIMPLE and 60 % in WEATHER: "
    "counters hold back fewer copies, and gain less.",
    "The paper gives no parameters of freezing, and does not say whether a write to a page with "
    "one copy invalidates it; its tables have no row of freezing. Of eight readings the one is "
    "taken whose costs, data as they are, come nearest to all-remote, where its words put them "
    "(table freezing-readings): any write, up to ten million references ago. Re-aligned, no "
    "reading comes near.",
    "Which remedy is the largest factor is judged over INV and UPT together, where taking updates "
    "and freezing leave UPT as it was. In a first full run these two were averaged over INV "
    "alone, and the claim failed, on their tables too: over INV alone counters gain more than "
    "re-alignment, 13.1 against 9.6 in their tables.",
    "Beyond the paper: advice on objects, which a programmer can follow, gains with 4 KB pages "
    "more than the re-alignment of words in SPEECH (UPT 21.7 as it is, 5.5 re-aligned, 2.8 "
    "advised) and WEATHER (19.2, 13.9, 9.1), more under UPT and 91 % of it under INV in SIMPLE, "
    "and nothing in FFT, whose words change hands from pass to pass: a layout is for a whole run.",
)
"""Paragraphs for the page and the ledger."""
