"""Which lines are headings, of which level, and which only look like one."""
# ruff: noqa: E501  (texts stand here as they are read)

import pytest

from ragcli.datatypes import HeadingRule, SplitOptions
from tests.documents.reading import headings, kept, path_of, paths, read

BODY = "这里是正文，说明各项要求和办法。再写一句，使它更长一些。\n"

OUTLINES = {
    "chapters and sections": (
        f"第一章 总则\n{BODY}第一节 目的\n{BODY}第二节 范围\n{BODY}第二章 职责\n第一节 部门\n{BODY}",
        ["第一章 总则", "  第一节 目的", "  第二节 范围", "第二章 职责", "  第一节 部门"],
    ),
    "volumes whose chapters begin anew": (
        f"第一卷 风起\n第一章 入城\n{BODY}第二章 夜雨\n{BODY}第二卷 云涌\n第一章 出城\n{BODY}第二章 归途\n{BODY}",
        ["第一卷 风起", "  第一章 入城", "  第二章 夜雨", "第二卷 云涌", "  第一章 出城", "  第二章 归途"],
    ),
    "full-width and Arabic digits": (
        f"第１章　开箱\n{BODY}第２章　安装\n{BODY}第 3 章 调试\n{BODY}",
        ["第１章　开箱", "第２章　安装", "第 3 章 调试"],
    ),
    "blanks inside the number": (
        f"第 一 章 總則\n{BODY}第 二 章 設立\n{BODY}第 十 二 章 附則\n{BODY}",
        ["第 一 章 總則", "第 二 章 設立", "第 十 二 章 附則"],
    ),
    "titles glued to the unit": (
        f"第一章总则\n{BODY}第二章管理职责\n{BODY}第三章附则\n{BODY}",
        ["第一章总则", "第二章管理职责", "第三章附则"],
    ),
    "Chinese counts in three depths": (
        f"一、概况\n（一）人员\n1. 编制\n{BODY}2. 招聘\n{BODY}（二）设备\n{BODY}二、计划\n（一）目标\n{BODY}",
        [
            "一、概况",
            "  （一）人员",
            "    1. 编制",
            "    2. 招聘",
            "  （二）设备",
            "二、计划",
            "  （一）目标",
        ],
    ),
    "decimals in three depths": (
        f"1 概述\n1.1 目的\n{BODY}1.2 范围\n1.2.1 内部\n{BODY}1.2.2 外部\n{BODY}2 要求\n2.1 人员\n{BODY}",
        ["1 概述", "  1.1 目的", "  1.2 范围", "    1.2.1 内部", "    1.2.2 外部", "2 要求", "  2.1 人员"],
    ),
    "decimals with a stop behind": (
        "1. Overview\n\n1.1. Scope\n\nThis part says what it is for.\n\n1.2. Terms\n\nWords have meanings here.\n\n2. Use\n\nTurn it on.\n",
        ["1. Overview", "  1.1. Scope", "  1.2. Terms", "2. Use"],
    ),
    "chapters with decimals below": (
        f"第一章 设计\n1.1 荷载\n{BODY}1.2 材料\n{BODY}第二章 施工\n2.1 准备\n{BODY}2.2 浇筑\n{BODY}",
        ["第一章 设计", "  1.1 荷载", "  1.2 材料", "第二章 施工", "  2.1 准备", "  2.2 浇筑"],
    ),
    "brackets": (
        f"【产品简介】\n{BODY}\n【使用方法】\n{BODY}\n【注意事项】\n{BODY}",
        ["【产品简介】", "【使用方法】", "【注意事项】"],
    ),
    "known words between blank lines": (
        f"电饭煲使用说明\n\n概述\n\n{BODY}\n技术参数\n\n{BODY}\n注意事项\n\n{BODY}\n维护保养\n\n{BODY}",
        ["概述", "技术参数", "注意事项", "维护保养"],
    ),
    "underlined in two ways": (
        f"总说明\n======\n{BODY}\n安装\n----\n{BODY}\n使用\n----\n{BODY}\n附记\n======\n{BODY}".replace(
            "总说明", "手册\n\n总说明"
        ),
        ["总说明", "  安装", "  使用", "附记"],
    ),
    "appendices beside chapters": (
        f"第一章 总则\n{BODY}第二章 细则\n第一节 甲\n{BODY}附录一 费用\n{BODY}附录二 表格\n{BODY}附件A 样张\n{BODY}",
        ["第一章 总则", "第二章 细则", "  第一节 甲", "附录一 费用", "附录二 表格", "附件A 样张"],
    ),
    "a novel's own words": (
        f"楔子\n{BODY}第一章 雨\n{BODY}番外一 雪\n{BODY}番外 第一章 霜\n{BODY}尾声\n{BODY}后记\n{BODY}",
        ["楔子", "第一章 雨", "番外一 雪", "番外 第一章 霜", "尾声", "后记"],
    ),
    "English chapters in Roman numerals": (
        "CHAPTER I: THE ROAD\n\nThe road was long and the night was dark.\n\nCHAPTER II: THE INN\n\nThey found an inn.\n",
        ["CHAPTER I: THE ROAD", "CHAPTER II: THE INN"],
    ),
    "parts, chapters and an appendix": (
        "Part One\n\nChapter 1 Keys\n\nHere are keys.\n\nChapter 2 Locks\n\nHere are locks.\n\nAppendix A: Tools\n\nHere are tools.\n",
        ["Part One", "  Chapter 1 Keys", "  Chapter 2 Locks", "Appendix A: Tools"],
    ),
    "capitals over indented text": (
        "NAME\n       tool - does a thing\n\nSYNOPSIS\n       tool [options]\n\nSEE ALSO\n       other tools that do other things\n",
        ["NAME", "SYNOPSIS", "SEE ALSO"],
    ),
    "questions": (
        "Q1: 怎样开机？\n答：按住电源键三秒。\n\nQ2: 怎样关机？\n答：再按一次。\n\nQ3: 没有反应怎么办？\n答：检查插座。\n",
        ["Q1: 怎样开机？", "Q2: 怎样关机？", "Q3: 没有反应怎么办？"],
    ),
    "marks of a help file": (
        "*help.txt*\tFor version 1\n\n=====\n*1.1*\t移动\n\n光标可以移动。\n\n=====\n*1.2*\t删除\n\n文字可以删除。\n",
        ["*1.1*\t移动", "*1.2*\t删除"],
    ),
    "titles without any mark": (
        "文集\n\n\n故乡\n\n" + BODY * 4 + "\n端午节\n\n" + BODY * 4 + "\n白光\n\n" + BODY * 4,
        ["故乡", "端午节", "白光"],
    ),
    "circled numbers": (
        f"一、准备\n\n①清点\n{BODY}\n②登记\n{BODY}\n二、检查\n{BODY}",
        ["一、准备", "  ①清点", "  ②登记", "二、检查"],
    ),
    "upper, middle and lower": (
        f"上篇·谷物\n{BODY}\n中篇·器具\n{BODY}\n下篇·矿石\n{BODY}",
        ["上篇·谷物", "中篇·器具", "下篇·矿石"],
    ),
    "marks before the whole line": (
        f"<篇名>本经\n作者：某\n\n<篇名>序\n\n{BODY}\n<篇名>上品\n\n{BODY}\n<篇名>下品\n\n{BODY}",
        ["<篇名>序", "<篇名>上品", "<篇名>下品"],
    ),
}


@pytest.mark.parametrize("name", OUTLINES)
def test_outline_of(name: str) -> None:
    text, want = OUTLINES[name]
    document = read(text)
    assert headings(document) == want
    assert kept(document) == document.text


OUTLINES |= {
    "a standard's own way": (
        f"前  言\n{BODY}\n1  范围\n{BODY}\n2  术语\n\n2.1\n噪声\n{BODY}\n2.2\n声级\n{BODY}\n3  要求\n{BODY}\n附  录  A\n{BODY}",
        ["前  言", "1  范围", "2  术语", "  2.1", "  2.2", "3  要求", "附  录  A"],
    ),
    "number signs": (f"# 手册\n\n## 安装\n{BODY}\n## 使用\n\n{BODY}", ["# 手册", "  ## 安装", "  ## 使用"]),
    "titles between dashes": (
        f"---- 安装 ----\n{BODY}\n---- 使用 ----\n{BODY}",
        ["---- 安装 ----", "---- 使用 ----"],
    ),
    "an appendix that counts by its letter": (
        f"1 甲\n1.1 子\n{BODY}2 乙\n2.1 丑\n{BODY}附录 A\nA.1 总则\n{BODY}A.2 细则\n{BODY}",
        ["1 甲", "  1.1 子", "2 乙", "  2.1 丑", "附录 A", "  A.1 总则", "  A.2 细则"],
    ),
    "steps": (
        f"步骤一 准备\n{BODY}步骤二 安装\n{BODY}步骤三 验收\n{BODY}",
        ["步骤一 准备", "步骤二 安装", "步骤三 验收"],
    ),
    "acts and scenes": (
        "ACT I\n\nSCENE I. A room.\n\nHe speaks to nobody at all.\n\nSCENE II. A garden.\n\nShe answers.\n\nACT II\n\nSCENE I. A road.\n\nThey go.\n",
        ["ACT I", "  SCENE I. A room.", "  SCENE II. A garden.", "ACT II", "  SCENE I. A road."],
    ),
    "characters spaced out": (
        f"手册\n\n使 用 方 法\n\n{BODY}\n维 护 保 养\n\n{BODY}",
        ["使 用 方 法", "维 护 保 养"],
    ),
    "a list under a heading, then the next heading": (
        f"一、步骤\n1. 关机\n2. 断电\n3. 拆盖\n二、注意\n{BODY}",
        ["一、步骤", "二、注意"],
    ),
}

NO_HEADINGS = {
    "sentences about chapters": "第三章所述押金不足的，应当补足。\n第二条规定的期限届满后，按第五条办理。\n第一回叙说缘起，第二回才入正题。\n",
    "units that go on as other words": "第七回合时他丢了一子。\n第三节车厢坐满了。\n第二部分钱没有付。\n第五条件不成立。\n",
    "dates, versions, addresses, quantities": "2024.08 起改用纸盒。\n3.2.1 版修复了断电丢失设置的问题。\n10.0.0.254 是网关。\n0.6 MPa 为额定压力。\n12.5 元一只。\n",
    "numbered steps": "操作如下：\n1. 关闭总阀。\n2. 打开龙头泄压。\n3. 换上新件。\n4. 检查有无渗漏。\n",
    "steps without stops": "Do this:\n1. Press the button\n2. Wait ten seconds\n3. Open the lid\n",
    "a list in one paragraph each": "一、甲方应当按时付款，逾期按日加收违约金。\n二、乙方应当按期交货，逾期承担责任。\n三、争议由双方协商解决。\n",
    "log lines": "Jun 14 15:16:01 host sshd[1]: failed\nJun 14 15:16:02 host sshd[2]: failed\nJun 15 02:04:59 host su[3]: opened\n",
    "subtitles": "1\n00:00:06,500 --> 00:00:09,000\nHello there\n\n2\n00:00:11,000 --> 00:00:17,000\nGood bye\n\n3\n00:00:18,000 --> 00:00:19,000\nWell\n",
    "verse": "床前明月光，\n疑是地上霜。\n举头望明月，\n低头思故乡。\n",
    "a letter": "王老师：\n\n您好！来信收到，谢谢。\n\n此致\n敬礼\n\n学生 小李\n2024 年 5 月 1 日\n",
}


@pytest.mark.parametrize("name", NO_HEADINGS)
def test_nothing_is_a_heading_in(name: str) -> None:
    document = read(NO_HEADINGS[name])
    assert headings(document) == []
    assert document.articles == ()
    assert kept(document) == document.text


def test_hea1_a_unit_that_goes_on_as_another_word_is_body() -> None:
    text = (
        "第一回 下山\n　　他走得很快。\n　　第四回合里，他输了一着。\n第六节车厢没有灯。\n第二回 渡江\n"
        "　　第三章里说过的船又来了。\n第二部分人已经上岸，没有等他。\n"
    )
    document = read(text)
    assert paths(document) == [("第一回 下山",), ("第二回 渡江",)]
    assert path_of(document, "第四回合里") == ("第一回 下山",)
    assert kept(document) == document.text


def test_hea2_numbers_that_count_nothing_are_body() -> None:
    text = (
        "1 准备\n1.1 工具\n2023.05 起改用新扳手。\n4.0.2 版固件不支持。\n172.16.3.9 是主机地址，不要占用。\n"
        "0.25 MPa 为下限。\n1.2 材料\n9:45 领料。\n-8% 表示亏损。\n6 号仓领取。\n2 施工\n2.1 放线\n2022.11.30 07:20 开工\n#7 桩位在东侧。\n"
    )
    document = read(text)
    assert headings(document) == ["1 准备", "  1.1 工具", "  1.2 材料", "2 施工", "  2.1 放线"]
    assert path_of(document, "172.16.3.9 是主机地址") == ("1 准备", "1.1 工具")
    assert "-8% 表示亏损" in document.text
    assert kept(document) == document.text


def test_hea4_a_side_story_is_not_the_first_chapter() -> None:
    document = read(
        "楔子\n雪停了。\n第1章 出门\n他背了包。\n番外 第一章 小满\n小满七岁。\n番外二 河埠\n没有船。\n后记\n写完了。\n"
    )
    assert paths(document) == [("楔子",), ("第1章 出门",), ("番外 第一章 小满",), ("番外二 河埠",), ("后记",)]
    assert path_of(document, "小满七岁") == ("番外 第一章 小满",)


def test_hea6_text_before_the_first_heading_is_kept() -> None:
    document = read(
        "锅炉手册 下册\n说明：上册在二楼。\n泄压阀为黄色手柄，位于右侧。\n\n第四章 排污\n每日排污一次。\n"
    )
    assert path_of(document, "泄压阀为黄色手柄") == ()
    assert path_of(document, "每日排污一次") == ("第四章 排污",)
    assert kept(document) == document.text


def test_hea9_a_long_chapter_gives_many_chunks_under_one_path() -> None:
    body = "".join(f"　　第{day}日，自{day % 90}度方向行船{day * 2}里。\n" for day in range(1, 2200))
    document = read(f"第001章 启航\n短。\n第002章 长途\n{body}第003章 靠岸\n完。\n")
    assert headings(document) == ["第001章 启航", "第002章 长途", "第003章 靠岸"]
    assert path_of(document, "第1800日") == ("第002章 长途",)
    assert max(len(chunk.text) for chunk in document.chunks) <= 500


@pytest.mark.parametrize("hidden", ["\ufeff", "\u200b", "\u200b\u200b", "\u2060", "\xa0", "　　"])
def test_invisible_characters_do_not_hide_a_heading(hidden: str) -> None:
    document = read(f"前面的话。\n{hidden}第一章 开机\n{BODY}{hidden}第二章 关机\n{BODY}")
    assert [heading.line for heading in document.headings] == [2, 4]


def test_a_table_of_contents_is_no_chapter() -> None:
    entries = "第一章 总则\n第二章 管理\n  第一节 人员\n第三章 附则\n"
    body = f"第一章 总则\n{BODY}\n第二章 管理\n第一节 人员\n{BODY}\n第三章 附则\n{BODY}"
    for contents in (
        f"目录\n{entries}\n",
        f"目　录\n\n{entries}\n\n",
        f"{entries}\n",
        "目录\n" + entries.replace("\n", " ........ 12\n") + "\n",
    ):
        document = read(f"管理规定\n\n{contents}{body}")
        assert headings(document) == ["第一章 总则", "第二章 管理", "  第一节 人员", "第三章 附则"], contents
        assert document.headings[0].line > 5
        assert kept(document) == document.text


def test_a_contents_list_without_numbers_names_the_titles() -> None:
    contents = "Contents\n\n   * Setting up\n        * Cables\n        * Power\n   * Daily use\n        * Cleaning\n\n\n"
    body = "".join(
        f"{title}\n\nThere is something to say about this here.\n\n"
        for title in ("Setting up", "Cables", "Power", "Daily use", "Cleaning")
    )
    assert headings(read(contents + body)) == ["Setting up", "  Cables", "  Power", "Daily use", "  Cleaning"]


def test_a_title_printed_twice_is_one_heading() -> None:
    document = read(f"第一章 花\n\n集名——\n第一章花\n{BODY}\n第二章 月\n\n集名——\n第二章月\n{BODY}")
    assert headings(document) == ["第一章 花", "第二章 月"]
    assert {note.kind for note in document.notes} == {"doubt_doubled"}


def test_a_title_on_the_line_below_its_number_is_part_of_the_path() -> None:
    document = read(f"第一章\n\n初到\n\n{BODY}\n第二章\n\n离去\n\n{BODY}")
    assert paths(document) == [("第一章 初到",), ("第二章 离去",)]
    assert len(document.headings) == 2


def test_articles_are_borders_and_part_of_the_path_but_no_headings() -> None:
    document = read(
        "第一章 总则\n第一条 为了规范管理，制定本办法。\n第二条　本办法适用于全体员工，包括实习生。\n第二章 附则\n第三条 本办法自发布之日起施行。\n第三条所称发布之日，以公告为准。\n"
    )
    assert headings(document) == ["第一章 总则", "第二章 附则"]
    assert [(article.line, article.number) for article in document.articles] == [
        (2, "第一条"),
        (3, "第二条"),
        (5, "第三条"),
    ]
    assert path_of(document, "包括实习生") == ("第一章 总则", "第二条")
    assert path_of(document, "以公告为准") == ("第二章 附则", "第三条")


def test_an_article_alone_on_its_line_is_a_heading_and_an_article() -> None:
    document = read(
        "第 一 章 總則\n第 1 條\n本法所稱公司，謂社團法人。\n第 2 條\n公司分為四種：\n一、無限公司：指二人以上股東所組織。\n第 2-1 條\n（刪除）\n"
    )
    assert headings(document) == ["第 一 章 總則", "  第 1 條", "  第 2 條", "  第 2-1 條"]
    assert len(document.articles) == 3


def test_the_user_s_own_rules_come_first() -> None:
    rules = (HeadingRule(r"^※.+※$", 1), HeadingRule(r"^->", 2))
    document = read(f"※甲部※\n{BODY}-> 一号\n{BODY}※乙部※\n{BODY}", SplitOptions(heading_rules=rules))
    assert headings(document) == ["※甲部※", "  -> 一号", "※乙部※"]


def test_the_title_is_found_apart() -> None:
    assert read(f"门禁管理规定\n\n第一章 总则\n{BODY}").title.text == "门禁管理规定"
    assert read(f"====\n  操作手册\n====\n\n一、开机\n{BODY}").title.text == "操作手册"
    assert read(f"第一章 总则\n{BODY}").title is None
    assert read("这是一句话，不是标题。\n" + BODY).title is None


def test_page_headers_and_numbers_are_no_headings() -> None:
    pages = "".join(
        f"正文第{n}页上写着各种内容，说明各项事情。\n\n设备手册\n\n第 {n} 页\n\f\n" for n in range(1, 8)
    )
    document = read(f"第一章 总则\n{pages}第二章 附则\n{BODY}")
    assert headings(document) == ["第一章 总则", "第二章 附则"]
