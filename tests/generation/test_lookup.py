from ragcli.generation.lookup import guess


def test_what_followed_before_is_guessed():
    assert guess([1, 2, 3, 4, 5, 9, 1, 2, 3], 2) == [4, 5]


def test_the_last_place_counts():
    assert guess([1, 2, 7, 1, 2, 8, 0, 1, 2], 1) == [8]


def test_nothing_is_guessed_from_nothing():
    assert guess([], 4) == []
    assert guess([1, 2, 3], 4) == []
    assert guess([1, 2, 1, 2], 0) == []
