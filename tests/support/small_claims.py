"""A small table of claims, with every kind of measure, for tests: seconds of searches and games."""

from __future__ import annotations

SMALL = """\
game = "xiangqi"
seed = 3

[adjudication]
maximum_plies = 30

[budgets.quick]
pairs = 8
rounds = 2
positions = 4

[budgets.quick.limits]
play = "nodes=40"
long = "nodes=60"
shallow = { then = "depth=1", now = "depth=2" }
deep = "depth=2"
mate = "depth=4"
clock = "clock=0.3+0.01,node_clock=4000"

[[claims]]
id = "C20"
claim = "Deeper is stronger."
claim_zh = "搜得越深越强。"
source = "OT"
basis = "c"
then = "xqwlight-0.3"

[[claims.parts]]
id = "C20a"
claim = "One ply more is stronger."
claim_zh = "多一层更强。"
expect = "better"
margin = 10
limits = ["depth=2"]
reference_limits = ["depth=1"]

[[claims.parts]]
id = "C20b"
claim = "The interaction of two settings."
claim_zh = "两个设置的交互作用。"
kind = "interaction"
factors = { aspiration = ["off", "full"], algorithm = ["alphabeta", "pvs"] }
limits = ["play"]
not_then = "The text knows neither."
not_then_zh = "原文两者皆无。"

[[claims]]
id = "C1"
claim = "Windows save effort."
claim_zh = "窗口节省工作量。"
source = "AW"
basis = "c"
then = "moreland"

[[claims.parts]]
id = "C1a"
claim = "They save nodes."
claim_zh = "节省节点。"
kind = "nodes"
expect = "less"
set = { algorithm = "alphabeta" }
variant = { aspiration = "full" }
reference = { aspiration = "off" }

[[claims.parts]]
id = "C1b"
claim = "Few are missed."
claim_zh = "很少失败。"
kind = "share"
expect = "below"
threshold = 50
of = "windows_missed"
variant = { aspiration = "full" }
limits = ["deep"]

[[claims.parts]]
id = "C1c"
claim = "A mate found stays."
claim_zh = "杀棋不变。"
kind = "mates"
expect = "same"
suite = "last"
limits = ["mate"]
not_then = "no"
not_then_zh = "无"
"""
