from faithboard.data.vocabulary import SPECIAL_WORDS, Vocabulary


def test_counts_documents_not_occurrences_and_is_independent_of_order() -> None:
    documents = [["b", "b", "b"], ["a", "c"], ["c", "a"]]
    vocabulary = Vocabulary.from_documents(documents, min_document_frequency=2)
    assert vocabulary.words == (*SPECIAL_WORDS, "a", "c")
    assert Vocabulary.from_documents(documents[::-1], 2) == vocabulary


def test_unknown_words_and_names_of_special_tokens_are_unknown() -> None:
    vocabulary = Vocabulary.from_documents([["film", "<pad>", "<begin>"]])
    unk = vocabulary.specials.unk
    assert vocabulary.ids(["film", "nothing", "<pad>", "<begin>"]) == [5, unk, unk, unk]
    assert vocabulary.id("<sep>") == unk
    assert len(vocabulary) == 6


def test_rare_answers_are_kept_where_they_occur() -> None:
    documents = [["who", "@entity1"], ["who", "rare"]]
    assert Vocabulary.from_documents(documents, 2, {"@entity1", "@entity2"}).words[5:] == ("who", "@entity1")


def test_more_frequent_words_come_first() -> None:
    assert Vocabulary.from_documents([["z", "a"], ["z"]], 1).words[5:] == ("z", "a")
