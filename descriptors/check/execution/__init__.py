"""The integers of a kernel, executed: barriers, copies and multiplications of one CTA or cluster as they happen.

Lowest first: values of lanes (``lanes``, ``arithmetic``); how a kernel is started (``launch``) and made ready
(``program``); threads (``fragment``, ``meetings``, ``mbarrier``, ``schedule``) and memory (``knowledge``, ``contents``,
``tensor_memory``, ``footprints``); the ``machine`` that executes; what each instruction does to it (``integers``,
``branches``, and on ``accesses`` the events of barriers, warps, memory, copies, ``wgmma``, tensor memory and
``tcgen05``), in one table (``dispatch``); a kernel's ``runs``, with what copies bring (``copy_sizes``), the
``evidence`` of one, and the ``judgement`` of all.
"""
