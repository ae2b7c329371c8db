"""Reference counts for the test `providers`: texts that hurt, models trained
on this workspace, and what the original libraries make of them.

    counts.py WORKSPACE FOLDER RANDOM_TEXTS

FOLDER holds the unpacked packages. Writes texts.json and counts.json there.
"""

import base64
import importlib.metadata
import json
import pathlib
import random
import sys

import sentencepiece
import tiktoken
import tokenizers
from sentencepiece import sentencepiece_model_pb2

NASTY = [
    "", " ", "  ", "\n", "\r\n", "\t\t\tif", "\0", "a\0b\0", "\ufffd\ufffdabc", "é", "e\u0301\u0300 o\u0308",
    "'ſ", "I'ſ x", "it'S 'LL 'rE", "'re'VE'd", "x's", "İıſK", "Ǆǅǆ", "a\r\nb\rc\n\r\nd  \n", "\n\n\n\n",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 x", "\U0001f1e9\U0001f1ea", "\u1100\u1161\u11a8",
    "日本語のテキスト", "ภาษาไทยไม่มีช่องว่าง", "שלום עולם مرحبا بالعالم", "한국어", "ⅷ²³½", "ｆｕｌｌ", "ﬁ ﬂ", "12345678901234",
    "\u200b\u200d\ufeff", "\u2028\u2029\u0085x", " \u00a0\u3000 x", "▁▁ ▁a", "▁", "  lead", "trail  ", "\U0010ffff\ufdd0",
    "<s>", "</s>", "<unk>", "<pad>", "<bos>", "<eos>", "<0x0A>", "[INST] hi [/INST]", "[CLS]", "<|endoftext|>",
    "<|begin_of_text|>x<|eot_id|>", "<|im_start|>user\n<think>\n</think>", "<start_of_turn>", "<｜begin▁of▁sentence｜>",
    "<tool_call>x</tool_call>", "<sep>gathered", "ab" * 200, "x " * 100, "=/*" * 60, "-" * 90,
]
RUNS = [run * (200_000 // len(run)) + "x" for run in [" ", "a", "\n", "中", "=/", "  \n", "\u0301", "Zm9vYmFy1"]]
RUNS.append(" " * 1_100_000 + "x")
CHARACTERS = (
    [chr(code) for code in range(32, 127)]
    + list("\n\r\t  \n'\"")
    + list("éßſİıǅ日本語ภาไทשלאمر\U0001f469\u200d\U0001f1e9▁\u0301\u00a0\u3000\u2028\0\ufffd½²ⅷ한국")
)
WORDS = ["the", "fn", " let", "\n\n", "    ", "<s>", "<|endoftext|>", "'s", "'ſ", "123", "==", "日本", " ", "\r\n", "Hello",
         "WORLD", "camelCase", "_x", "//", "\t", "é", "e\u0301", "[INST]", "▁", "gathered", "if ", "\U0001f469\u200d\U0001f467"]
TRAINED = {
    "unigram": {"model_type": "unigram"},
    "unigram-bytes": {"model_type": "unigram", "byte_fallback": True, "normalization_rule_name": "identity",
                      "remove_extra_whitespaces": False},
    "unigram-suffix": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc_cf",
                       "user_defined_symbols": ["<sep>", "the"], "treat_whitespace_as_suffix": True},
    "bpe": {"model_type": "bpe"},
    "bpe-symbols": {"model_type": "bpe", "byte_fallback": True, "split_digits": True,
                    "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
                    "allow_whitespace_only_pieces": True, "user_defined_symbols": ["<sep>", "\n", "if ", "lif"]},
    "bpe-across": {"model_type": "bpe", "split_by_whitespace": False, "add_dummy_prefix": False,
                   "normalization_rule_name": "nfkc"},
}


def make_texts(workspace, number):
    choose = random.Random(9)
    texts = NASTY + RUNS
    for _ in range(number):
        kind = choose.random()
        if kind < 0.3:
            text = "".join(choose.choice(CHARACTERS) for _ in range(choose.randint(1, 60)))
        elif kind < 0.6:
            text = "".join(choose.choice(WORDS) for _ in range(choose.randint(1, 30)))
        elif kind < 0.8:
            text = "".join(chr(choose.randint(0, 0x2FFF)) for _ in range(choose.randint(1, 30)))
        elif kind < 0.9:
            planes = [(0, 0xD7FF), (0xE000, 0x10FFFF)]
            text = "".join(chr(choose.randint(*choose.choice(planes))) for _ in range(choose.randint(1, 20)))
        else:
            text = choose.randbytes(choose.randint(1, 60)).decode(errors="replace")
        texts.append(text)
    for pattern in ["crates/*/src/**/*.rs", "crates/*/tests/**/*.rs", "xtask/src/**/*.rs", "rfcs/*.md", "docs/*.md"]:
        texts += [path.read_text() for path in sorted(workspace.glob(pattern))]
    return texts


def train(workspace, folder):
    folder.mkdir(exist_ok=True)
    corpus = folder / "corpus.txt"
    sources = [path.read_text() for path in sorted(workspace.glob("crates/*/src/*.rs"))]
    sources += [path.read_text() for path in sorted(workspace.glob("rfcs/*.md"))]
    corpus.write_text("\n".join(sources) + "\n日本語のテキスト שלום ｆｕｌｌ é ﬁ\n")
    for name, options in TRAINED.items():
        sentencepiece.SentencePieceTrainer.train(
            input=str(corpus), model_prefix=str(folder / name), vocab_size=1500, hard_vocab_limit=False,
            character_coverage=0.999, num_threads=1, minloglevel=2, **options)
    # Pieces that were made and then declared unused are taken apart again.
    model = sentencepiece_model_pb2.ModelProto.FromString((folder / "bpe-symbols.model").read_bytes())
    ordinary = [piece for piece in model.pieces if piece.type == piece.NORMAL and len(piece.piece) > 1]
    for piece in ordinary[::3]:
        piece.type = piece.UNUSED
    (folder / "bpe-unused.model").write_bytes(model.SerializeToString())
    train_hugging_face(folder, corpus)


def train_hugging_face(folder, corpus):
    """The kinds of tokenizer.json that no package here has."""
    trained = {
        "byte-level": tokenizers.ByteLevelBPETokenizer(add_prefix_space=True),
        "word-piece": tokenizers.BertWordPieceTokenizer(),
        "char-bpe": tokenizers.CharBPETokenizer(),
        "metaspace": tokenizers.SentencePieceBPETokenizer(),
        "unigram": tokenizers.SentencePieceUnigramTokenizer(),
    }
    for name, tokenizer in trained.items():
        unknown = {"unk_token": "<unk>", "special_tokens": ["<unk>"]} if name == "unigram" else {}
        tokenizer.train([str(corpus)], vocab_size=1500, show_progress=False, **unknown)
        tokenizer.save(str(folder / f"{name}.json"))
    # A SentencePiece model as it is converted: with its table of replacements.
    # Control pieces are left out, since a Unigram model finds them in the text.
    model = sentencepiece_model_pb2.ModelProto.FromString((folder / "unigram.model").read_bytes())
    pieces = [(piece.piece, piece.score) for piece in model.pieces if piece.type != piece.CONTROL]
    converted = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, 0))
    table = tokenizers.normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)
    spaces = tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), " ")
    converted.normalizer = tokenizers.normalizers.Sequence([table, spaces])
    converted.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    converted.enable_truncation(7)
    converted.save(str(folder / "unigram-table.json"))


def counted(count, texts):
    """One count a text; None where the library gives up."""
    counts = []
    for text in texts:
        try:
            counts.append(count(text))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            counts.append(None)
    return counts


def hugging_face(path):
    file = json.loads(path.read_text())
    if file["model"]["type"] == "Unigram":
        # It finds special tokens in the text even if told not to.
        special = {token["content"] for token in file["added_tokens"] if token["special"]}
        for entry in file["model"]["vocab"]:
            entry[0] = f"\uffff{entry[0]}" if entry[0] in special else entry[0]
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(file))
    tokenizer.encode_special_tokens = True
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def tekken(path):
    file = json.loads(path.read_text())
    config = file["config"]
    size = config["default_vocab_size"] - config["default_num_special_tokens"]
    ranks = {base64.b64decode(token["token_bytes"]): token["rank"] for token in file["vocab"][:size]}
    encoding = tiktoken.Encoding("tekken", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def sentence_piece(path):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return lambda text: len(processor.encode(text))


def main():
    workspace, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    texts = make_texts(workspace, int(sys.argv[3]))
    (folder / "texts.json").write_text(json.dumps(texts))
    train(workspace, folder / "trained")
    mistral = next(folder.glob("venv/lib/python*/site-packages/mistral_common/data"))
    files = [("tokenizers", hugging_face, path) for path in sorted(folder.glob("*/package/models/tokenizer.json"))]
    files += [("tokenizers", hugging_face, path) for path in sorted((folder / "trained").glob("*.json"))]
    files += [("tiktoken", tekken, path) for path in sorted(mistral.glob("tekken*.json"))]
    models = sorted(path for path in mistral.iterdir() if ".model." in path.name)
    models += sorted((folder / "trained").glob("*.model"))
    files += [("sentencepiece", sentence_piece, path) for path in models]
    rows = []
    for library, load, path in files:
        by = f"{library} {importlib.metadata.version(library)}"
        rows.append({"file": str(path.relative_to(folder)), "by": by, "counts": counted(load(path), texts)})
    (folder / "counts.json").write_text(json.dumps(rows))


main()
