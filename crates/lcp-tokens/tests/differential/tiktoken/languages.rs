//! Text in many languages, put together of everyday words.

use lcp_testkit::SplitMix64;

/// A language: some of its words, and how they are set.
struct Language {
    words: &'static str,
    /// What is between two words.
    space: &'static str,
    /// What ends a sentence.
    stop: &'static str,
}

const fn spaced(words: &'static str, stop: &'static str) -> Language {
    Language { words, space: " ", stop }
}

const fn joined(words: &'static str, stop: &'static str) -> Language {
    Language { words, space: "", stop }
}

/// Scripts with cases and without, with spaces and without, both directions.
const LANGUAGES: &[Language] = &[
    spaced(
        "hus Träd måne över älv bröd Åska öppna sjö väg blå Kväll ljus stjärna fågel röst",
        ". ",
    ),
    spaced(
        "l'eau été garçon où forêt naïve cœur déjà L'hiver être maître août qu'une Noël leçon",
        ". ",
    ),
    spaced("łąka źródło żółw ćma święto Książka róża dźwięk mróz śnieg Gęś wiąz chwila jeż", ". "),
    spaced("trời nước đường Người không được những thuở bếp lửa Giếng cũ rừng ngọn gió", ". "),
    spaced("ağaç çiçek gökyüzü İstanbul ışık şehir düş köprü Güneş ıslak yağmur bahçe", ". "),
    spaced("θάλασσα Ήλιος φως δρόμος ψωμί ουρανός Ψυχή άνεμος νύχτα γλώσσα όρος", ". "),
    spaced("дорога Солнце хлеб река ёлка Подъезд щука снег язык время объём друг", ". "),
    spaced("ձյուն Արև ջուր ճանապարհ լեռ գիրք խոսք Մայր եւ երկինք", "։ "),
    spaced("მზე წყალი მთა ენა წიგნი ღამე ქარი ხე გზა თოვლი", ". "),
    spaced("שמש מים דרך לחם ספר בְּרֵאשִׁית עיר רוח אור בית", ". "),
    spaced("شمس ماء طريق كتاب مُحَمَّد ليل بيت ريح شجرة لا", "؟ "),
    spaced("خورشید آب راه می‌خواهم کتاب خانه شب پنجره ژاله گچ", ". "),
    spaced("सूरज पानी रास्ता किताब घर क्षितिज हवा पेड़ ज्ञान रोटी", "। "),
    spaced("সূর্য জল পথ বই ঘর বাতাস গাছ রুটি ভাষা আকাশ", "। "),
    spaced("சூரியன் தண்ணீர் வழி நூல் வீடு காற்று மரம் மொழி", ". "),
    spaced("సూర్యుడు నీరు దారి పుస్తకం ఇల్లు గాలి చెట్టు భాష", ". "),
    joined("พระอาทิตย์ น้ำ ถนน หนังสือ บ้าน ลม ต้นไม้ ภาษา กลางคืน เด็ก", " "),
    joined("ព្រះអាទិត្យ ទឹក ផ្លូវ សៀវភៅ ផ្ទះ ខ្យល់ ដើមឈើ ភាសា", "។ "),
    joined("太阳 河流 道路 书 房子 风 树木 语言 夜晚 学习 我们 的 了 是 在 不", "。"),
    joined("太陽 かわ みち ホン いえ 風が 木の コトバ 夜に ラーメン は を です ます", "。"),
    spaced("태양 물이 길을 책은 집에서 바람 나무 언어 밤하늘 빵", ". "),
    spaced("ፀሐይ ውሃ መንገድ መጽሐፍ ቤት ነፋስ ዛፍ ቋንቋ", "። "),
    spaced("ᏅᏙ ᎠᎹ ᎦᎶᎯ ꭰꮉ ᏗᎪᏪᎵ", ". "),
    joined("🌞 🚰 🛣️ 📖 🏡 🌬️ 🌳 👩‍🔬 👍🏽 🇯🇵 5️⃣", " "),
];

/// Bytes of a text, about.
const TEXT_BYTES: usize = 4 << 10;

/// The text with this number: one language, or now and then several.
pub(super) fn text(number: usize) -> String {
    let mut random = SplitMix64::new(number as u64 ^ 0x5EED_0000);
    let mut text = String::new();
    let mut language = &LANGUAGES[number % LANGUAGES.len()];
    while text.len() < TEXT_BYTES {
        if number.is_multiple_of(5) {
            language = &LANGUAGES[random.below(LANGUAGES.len())];
        }
        let words: Vec<&str> = language.words.split(' ').collect();
        for _ in 0..3 + random.below(12) {
            text += random.choose(&words);
            // A number, a name in Latin, or a mark now and then.
            text += match random.below(30) {
                0 => " 2048",
                1 => " LCP",
                2 => ",",
                3 => "-",
                _ => "",
            };
            text += language.space;
        }
        text.truncate(text.trim_end().len());
        text += language.stop;
        if random.below(5) == 0 {
            text.truncate(text.trim_end().len());
            text += random.choose(&["\n", "\n\n", "\r\n"]);
        }
    }
    text
}

/// Texts that together are `bytes` bytes at least.
pub(super) fn texts(bytes: usize) -> Vec<String> {
    let mut total = 0;
    let texts = (0..).map(text).take_while(|text| {
        let is_wanted = total < bytes;
        total += text.len();
        is_wanted
    });
    texts.collect()
}
