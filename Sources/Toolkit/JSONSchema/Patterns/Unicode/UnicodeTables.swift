// swift-format-ignore-file

/// Unicode 17.0, written by `scripts/unicode-tables`: do not edit.
///
/// Line breaks inside the texts carry no meaning. Numbers are groups of five bits, see `UnicodeText`.
enum UnicodeTables {
    /// The version of the data.
    static let version = "17.0"

    /// Each name and its aliases; the place in the list is the number used below.
    static let categories: StaticString = """
        Lu Uppercase_Letter,Ll Lowercase_Letter,Lt Titlecase_Letter,Lm Modifier_Letter,Lo Other_Letter,
        Mn Nonspacing_Mark,Mc Spacing_Mark,Me Enclosing_Mark,Nd Decimal_Number digit,Nl Letter_Number,No Other_Number,
        Pc Connector_Punctuation,Pd Dash_Punctuation,Ps Open_Punctuation,Pe Close_Punctuation,Pi Initial_Punctuation,
        Pf Final_Punctuation,Po Other_Punctuation,Sm Math_Symbol,Sc Currency_Symbol,Sk Modifier_Symbol,So Other_Symbol,
        Zs Space_Separator,Zl Line_Separator,Zp Paragraph_Separator,Cc Control cntrl,Cf Format,Cs Surrogate,
        Co Private_Use,Cn Unassigned,
        """

    /// Binary properties; the place in the list is the bit in a mask.
    static let binaries: StaticString = """
        Alphabetic Alpha,ASCII_Hex_Digit AHex,Bidi_Control Bidi_C,Bidi_Mirrored Bidi_M,Case_Ignorable CI,Cased,
        Changes_When_Casefolded CWCF,Changes_When_Casemapped CWCM,Changes_When_NFKC_Casefolded CWKCF,
        Changes_When_Lowercased CWL,Changes_When_Titlecased CWT,Changes_When_Uppercased CWU,Dash,
        Default_Ignorable_Code_Point DI,Deprecated Dep,Diacritic Dia,Emoji,Emoji_Component EComp,Emoji_Modifier EMod,
        Emoji_Modifier_Base EBase,Emoji_Presentation EPres,Extended_Pictographic ExtPict,Extender Ext,
        Grapheme_Base Gr_Base,Grapheme_Extend Gr_Ext,Hex_Digit Hex,IDS_Binary_Operator IDSB,IDS_Trinary_Operator IDST,
        ID_Continue IDC,ID_Start IDS,Ideographic Ideo,Join_Control Join_C,Logical_Order_Exception LOE,Lowercase Lower,
        Math,Noncharacter_Code_Point NChar,Pattern_Syntax Pat_Syn,Pattern_White_Space Pat_WS,Quotation_Mark QMark,
        Radical,Regional_Indicator RI,Sentence_Terminal STerm,Soft_Dotted SD,Terminal_Punctuation Term,
        Unified_Ideograph UIdeo,Uppercase Upper,Variation_Selector VS,White_Space space,XID_Continue XIDC,
        XID_Start XIDS,
        """

    /// Scripts, likewise.
    static let scripts: StaticString = """
        Adlm Adlam,Aghb Caucasian_Albanian,Ahom,Arab Arabic,Armi Imperial_Aramaic,Armn Armenian,Avst Avestan,
        Bali Balinese,Bamu Bamum,Bass Bassa_Vah,Batk Batak,Beng Bengali,Berf Beria_Erfe,Bhks Bhaiksuki,Bopo Bopomofo,
        Brah Brahmi,Brai Braille,Bugi Buginese,Buhd Buhid,Cakm Chakma,Cans Canadian_Aboriginal,Cari Carian,Cham,
        Cher Cherokee,Chrs Chorasmian,Copt Coptic Qaac,Cpmn Cypro_Minoan,Cprt Cypriot,Cyrl Cyrillic,Deva Devanagari,
        Diak Dives_Akuru,Dogr Dogra,Dsrt Deseret,Dupl Duployan,Egyp Egyptian_Hieroglyphs,Elba Elbasan,Elym Elymaic,
        Ethi Ethiopic,Gara Garay,Geor Georgian,Glag Glagolitic,Gong Gunjala_Gondi,Gonm Masaram_Gondi,Goth Gothic,
        Gran Grantha,Grek Greek,Gujr Gujarati,Gukh Gurung_Khema,Guru Gurmukhi,Hang Hangul,Hani Han,Hano Hanunoo,
        Hatr Hatran,Hebr Hebrew,Hira Hiragana,Hluw Anatolian_Hieroglyphs,Hmng Pahawh_Hmong,Hmnp Nyiakeng_Puachue_Hmong,
        Hung Old_Hungarian,Ital Old_Italic,Java Javanese,Kali Kayah_Li,Kana Katakana,Kawi,Khar Kharoshthi,Khmr Khmer,
        Khoj Khojki,Kits Khitan_Small_Script,Knda Kannada,Krai Kirat_Rai,Kthi Kaithi,Lana Tai_Tham,Laoo Lao,Latn Latin,
        Lepc Lepcha,Limb Limbu,Lina Linear_A,Linb Linear_B,Lisu,Lyci Lycian,Lydi Lydian,Mahj Mahajani,Maka Makasar,
        Mand Mandaic,Mani Manichaean,Marc Marchen,Medf Medefaidrin,Mend Mende_Kikakui,Merc Meroitic_Cursive,
        Mero Meroitic_Hieroglyphs,Mlym Malayalam,Modi,Mong Mongolian,Mroo Mro,Mtei Meetei_Mayek,Mult Multani,
        Mymr Myanmar,Nagm Nag_Mundari,Nand Nandinagari,Narb Old_North_Arabian,Nbat Nabataean,Newa,Nkoo Nko,Nshu Nushu,
        Ogam Ogham,Olck Ol_Chiki,Onao Ol_Onal,Orkh Old_Turkic,Orya Oriya,Osge Osage,Osma Osmanya,Ougr Old_Uyghur,
        Palm Palmyrene,Pauc Pau_Cin_Hau,Perm Old_Permic,Phag Phags_Pa,Phli Inscriptional_Pahlavi,Phlp Psalter_Pahlavi,
        Phnx Phoenician,Plrd Miao,Prti Inscriptional_Parthian,Rjng Rejang,Rohg Hanifi_Rohingya,Runr Runic,
        Samr Samaritan,Sarb Old_South_Arabian,Saur Saurashtra,Sgnw SignWriting,Shaw Shavian,Shrd Sharada,Sidd Siddham,
        Sidt Sidetic,Sind Khudawadi,Sinh Sinhala,Sogd Sogdian,Sogo Old_Sogdian,Sora Sora_Sompeng,Soyo Soyombo,
        Sund Sundanese,Sunu Sunuwar,Sylo Syloti_Nagri,Syrc Syriac,Tagb Tagbanwa,Takr Takri,Tale Tai_Le,Talu New_Tai_Lue,
        Taml Tamil,Tang Tangut,Tavt Tai_Viet,Tayo Tai_Yo,Telu Telugu,Tfng Tifinagh,Tglg Tagalog,Thaa Thaana,Thai,
        Tibt Tibetan,Tirh Tirhuta,Tnsa Tangsa,Todr Todhri,Tols Tolong_Siki,Toto,Tutg Tulu_Tigalari,Ugar Ugaritic,
        Vaii Vai,Vith Vithkuqi,Wara Warang_Citi,Wcho Wancho,Xpeo Old_Persian,Xsux Cuneiform,Yezi Yezidi,Yiii Yi,
        Zanb Zanabazar_Square,Zinh Inherited Qaai,Zyyy Common,Zzzz Unknown,
        """

    /// (category, mask of binary properties): what a code point may be.
    static let records: StaticString = """
        @#$DHFCK[KCC;#DcCCK[CCC<'DCCCK[CCC;(TCCCSKCCC+8CCCC+)DCCCKKCCC+(SCCDSKCCC+8CCCCKCC%5CCCCKCS%4CCCC+5KCCCKCS%4CCCC
        KCCC-+CCCCKKCCC+8CCCE.-CCCC+8CCCEMCC%$DDCCK[KCC;4CCCCKCCC+$DLCCK[[CC;'DKCCK[CCC;#DLCCK[SCC<8CCCE-@CCCC%8CCCU.8CK
        CC+'DKCCK[SCC;4CCCCKCC%8CCCENCC%)DCCCSKCCC+8CCCCKCS%(SCCCSKCCC+0KCCCKCC%1KCCCKCC%&TLCDK[KCC;&TCCCO[CCC;0KCCCKCS%
        1KCCCKCS%$DRFCK[KCC;(TCCDSKCCC+&TCCDK[CCC;$DPFCK[KCC;5CKCCKC3@CCCCCCC$-CKCC+)CCCDSKCCC+'DCCCK[DCS;6CCCC+7SKCD+$D
        LCCK[[CG;&TCCCK[CCC;4CKCC+7SCCD+$DHFCK[KCG;%DcECK[CCC;(TKCCSKCCC+'DKCCK[DCC;'DKCCK;/CCGCKCC%=3,
        DCCCK[CCC;5KKCCKC35CCCCKC3&TLCCK[KCC;8CCCEMCS%0CKCC+1CKCC+4CCCCKCCE-=SK+/CCGC+'DCCCK[GCC;)DCCDKKCCC+0KKCC+1KKCC+
        4CCCCKCCE+&TLCDK[KCG;4CKCCKCCC+@CK+6CKCC+2KCCCKCC%3KCCCKCC%4CKCCKCCC-8CKCE.9CKCCKCCCC'&TDCDK[KCC;&TCCDO[CCC;*SCC
        C3(SCCDWKCCC+4CKCCKCC%8CKCE-5KKCCKCS%'DCCCK[DCC;<##DcDCK[CCC<$DRFCK[[CC;)CCCDKKCCC+(SKKCSKCCC-0CCCCKCC-(SCCCSKSC
        C+@CCCCCCC%.CCCCKKCCC+=WK+(TCCCWKCCC+0KCCC+1KCCC+'DKKCK[CCC;5CCCEMCS%8CCCUMCC%8CCCCKCC38CKCCKCC38CCCCK%,
        DCCCK[DCC;'DCCDK[CCC;?#/CKGC+.CKCCKKCCC+4CKCCKC38DDCCKCCCC$8CCCU-<CCCCCCCGC'4CCCIKCC%6CCCCKCC%'DLCCK[KCC;2KCCCKC
        C-3KCCCKCC-(SKCDSKCCC+(SKKCSKCCC+4SCCC+'DCSCK[CCC;7SCCC+'DKCCK[CCC+(TKSCSKCCC+$DHECK[KCC;-CCCCKKCCC+4CCCC/4CCCD+
        $DDCCK[KCG;4CCCCKCS%2CCCCKCC-4CKCEMCCE-=SK;&TLCCK[KCG;5CKGCKC30KKCCKC31KKCCKC38DcCCKCCCC$0KCCCKCC-1KCCCKCC-0CKCC
        KCC+1CKCCKCC+4SKCCKCCC-4SKCCKCCC+&TKCDO[CCC;+CKCCKKCCC+8DDCEMCCCC$9CCCCKCCGC'4CCCCKCC-4SCCCKCC-4SCCCKCCE-+ECCIKL
        CCC+4SCCCKCCE+#FcCCK]CCC<7SCCDKCS%7SCCDKCC%$FHFCK]KCC;4SCCDOKCCC+$DRVCK[KCC;(TRFDSKKCC+&TKCDK[CCC;&TLCDK[+4SKCCK
        KCCK+#DLCCK[CCC<#DcCCK[SCC<#DXCCK[CCC<9CCCCKCCCC'(TCCCS[CCC;*SCCD3(TCCDWKCCC+=SKKCSKECC+=SKKGCKECC+=WKKCCCC'/CKG
        CKCC%2SCCCKCC-3SCCCKCC-3CCCCKCC-4SKCCKCCE-4SCCCKCC%:CCCCCCCGC';CCCCCCCGC'4CKCCKCS%.CCCCKKSCC+4CKCCKCCE-4CCGCKCC%
        =SKKCCC3*SCCG35CCCCK[SCC;8CCCCKC38CCCCK[CCC;$DLCEM[KCC;,DcCCK[CCC<,
        DPFCK[KCC;5CCGCKCS%0KKSCKCC%1KKSCKCC%8DcCEMCCCC$8DPFCKC+5CCCENCS%8CCCUNCC%5CKCCKCS%8KCCCKCC%&TKCCK[CCC;&TCCDKCC%
        8CCCCK'1CCCCKCC-/CCGEMCC%,
        DKCCK[DCC;4CCCE-7SKCDK;4CCCCKKCCC+>#1CCCCKCC%0CCCCKCC%(SKKGSKCCC-4SKCC+/CKGCKC34CKCCKCC+4SKCCKCC++CKCCKLCCC+#DcC
        CK]CCC<7SKCDKC3$DPFCK]KCC;0KKCCKCC+1KKCCKCC+4CKCCKKCCC+&TKCDS[CCC+'DCCCO[CCC;'DCCDO[CCC;(SCCCWKCCC+(SCCCSKDCC+)D
        CCDSKCCC+&TCCCO[DCC;)CCCCSKCCC++CKCCKKSCC+8DLCCKCCCC$8CCCILCCC$7SCCQ,
        8CCCI.=SKKG3
        """

    /// (length - 1, record) from U+0000 to U+10FFFF.
    static let recordRuns: StaticString = """
        +`%'Z&4`%#_'#F%#`'#[&#]&$>#a'#C$#D$#[&#,#M%#^$#b'#>,c'#C(#M%#.#,#.#F%#>(D(6%#C$#>#D$#E(#G&#F((G($$$X$2$#C$#,
        #D$#,(`%#Z&<`%#V%#>&]&#+#>#S$#3#^&#_&#,#G%#3#S$#+#,$O$#S$#I$#>#H(#S$#O$#^&#`&%O$#>9%#,)%#I$9$#,
        *$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#X$#%#$#%#L$#%#$
        #%#$#4#%#$#%#$#%#$#%#L$#%#$#%#$#%#$#%#$#I(#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%
        #$#%#$#%#$#%#$#%#$#%#$$%#$#%#$#%#$#I$#$$%#$#%#$$%#$%%#$#4&%#$$%#$%%%$$%#$$%#$#%#$#%#$$%#$#%$4#%#$$%#$%%#$#%#$$%#
        $#4#&#%#$#4#$&&#a%#Y$#L$#a%#Y$#L$#a%#Y$#L$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%$$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%$$#a
        %#Y$#L$#%#$%%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#4#%#$#%#$#%#$#%#$#
        %#$#%#$#%#$#%#$#%#$(4$%#$$%$$#%#$&%#$#%#X$#%#$#%#$#%($#4$$#4#$#4$$%4$$#4&$#4#X$&$$4#$#4$$$4#$)4#$$4#$#4$$%4($'4#
        $#4$&)4#X$#$34$E$#N%(E$)K$$W%&W$,
        K$$X%(W$(S$$W$'E$)W$#K$#W$#K$3W$c$*$a&#*$a&#J(+*#b&**'B(*/'#%#$#%#$#K(#W$#%#$$##L(%$#O%#%&#$S$#%#M(%%###%##$%#$3
        %##+%8$#I$.$#%$b%#8$N(#b%#I$#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$$b%#L$#X$#O(#b%#b$#%#$$%#$#4U$%H$$
        #X$#$#X$)$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#('*$Y%#%#$#%#$#%#$#%#$#%#$#%#$#%#
        $#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$$%#$#%#$#%#$#%#$#%#$#%#$#%$$#%#
        $#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#
        $#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$##H$%$##K$'-#c&#4H$$#I$#4#/#H%$#$(#
        R$##A*0J$#H%#J$#-$J$#5$J$#-#J$*#=&&#&&#-#c&-#(_$%b$$-#R$#5#-$(-'#5#H&%/B&#F$,&*J$&'#J$#*)',
        0&-$&#'$&#C'#&&7^%&#/#&)'#_$#($*&'$K$$'#(%*#'$&,0%&$(#&%/*5#-#5#-###_$#&#'@&2J$-*$#[%&-J$#&0#,
        0C$&+*$K$#(#-#5#/#F$$##B$R$8&$'$*#U$+'#U$%'#U$&'#B$#(5#-#/#5#/%5$/##;&%B$##5##-&'#:&#D')&$_$'##'**K$&#K$+*#B.'$B
        #_$)J$(*1J$&'#)X$&#'#)#*#&%)*'&)#*$)#&&*%'*7$&$'$/,
        0#-#K$1&#'$)##*&$#$&$#8&##)&###&%#&&$##*#&#@$)&'$#$)$#$)#*#&*##@&#$7###7$&$'$#,
        0$&$R$(2#(#R$#&#-#B$#$'#)##(&&#$&$#8&##)&###&#7###&#7##$&$##*##%)$'&#$'$#$'#*%##')#%7#&###7)#,0#'#I&%&#'#-,
        #$'#)##+&##%&##8&##)&##$&##'&$##*#&%)''##$'#)##$)#*$##&1#$&$'$#,
        0#-#R$)##&#'#I&#'%*###'$)##*&$#$&$#8&##)&##$&##'&$##*#&#@#'#)&'$#$)$#$)#*)##Z%#'#@&#$7##%&$'$#,0#(#&(2,
        ##'#&##(&%#%&##&&%#$&###&##$&%#$&%#%&%#.&&##@#)#'$)%#%)##%)#*$##&(##@0#,
        0%2((#R$#('##'%)#'*&##%&##9&##2&$##*#&%'&)##%'##%'#*)#$'##%&##$&$#$&$'$#,0)##-)2#(#&#'$)#-*&##%&##9&##,
        &##'&$##*#&#)#'#@#)#@$)###'$@##$@#'#*)#$@'#%&##$&$'$#,
        0##$&#).#$'$)+&##%&##K$&$*#&#@$)&'##%)##%)#*#&#(&#%&#@)2%&$'$#,
        0+2#((&###'$)##4&%#:&##+&###&$#)&%##*&##@$)%'###'##))#@(#,0$#$)#-.#R$&#'#&#E'('#J$&##R$'I%#&#F$(*#'#*#-,
        0$5G$#$&###&##'&##:&###&##,&#'#&#E'('#*$'#&$#'I%###F$##'*#'#B##,0$#$7$&B##&%(&-#5%-#V$(5#(#-%($*((,0,
        2#(#*#(#*#(#*#J&#K&#J&#K&$c%%&#7&&##&&#7&&#7&&#7&&#7.&#7%&&#$'#Z$#'$Z$#F'#Z$#F'''#)#'#Z$$J$#*#-$*'&('#Z$&'##&'#Z
        $&'#Z$&'#Z$&'#Z$.'#Z$%'##*(#*((##$('-&($-G$#M$&$)&'#)''#*#)$*$)$'#&,
        0$/&-(&$)$'&&%'#&#)$J%$&$)'J%%&&'/&#'$)$'(J%#J$#&#J%,
        0$J%#)#'$(H$%###%'##%$#M$G'#-#c$%G'b%&$L&J*&##&&$#)&###&##&&$#K$&##&&$#C$&##&&$#)&###&##&&$#1&##[$&##&&$#E%&$#%*
        #-#5#/&5$/+H'-2%#2&,
        ((#X%P($#(I$$##H%N6&#(#/3&#Q(<&#J&#K&%#M%&%5%`$*&)#4&$'#*#P$+#5&$'#P$$/+#4&$'.#/&##%&##$'.#E$&$C'1&$b&#))'*)#'$)
        -*$/#5#U$$-#5#R$#&#*$#,0(#,2(#$-#5#/$5#H%#-#5#/#I'%C&#G%#C&,0(#E$&#F$W$&)#'&$R(D$&#'#&'#H%&,
        #A&##%'&)$'%)&#$)#'()%*&##(%#$/,0@&$#'&-#N$&&#'&%I%$&#I%1&(#,
        0#H'%#D$(9&$'$)#'$#$-W$&#)#'#))'###*#)#'$)*'()$'**$##*,0(#,
        0(#)-#F$&/$-$#0*#S($'-*%'1*$#.*6#&'#)Q$&#*#@''#@#'#@&)#'#@#P$*&##$/,0$/#-#5$/#-,(+*+(%/$'#)@&#)&'$)$'#P$#*$'$&,
        0N$&#*#)$'%)#'#)%'$P$*#&-F$&*)*'$)#T(#*%#$/%5,0%#%&,
        0@&%K$#X%$K$$/+I$#%#$'#M$%$#%%*-*#%*#J'/*#c%)*&&#*(&#*$&#c%$*#&'#N$4%E$#W%-E$#W%4E$#W%5E$#N%*E$/4#c$#$%4#$24#$)4
        #K'&4+E$#N%%E$#N%8E$#c$&B.*%BD$'-*#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%
        #$#%#$#%#$#%#X$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#
        %#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%'$$
        I$$4#%#4#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#X$#%#$#%#$#%#$#%#
        $#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%+$*%($$#(%$#*$*%*$*%($$#(
        %$#*$###%###%###%###%*$*%#$#L$#$#L$#$#L$#$#L$#$#L$#$#L$#$#L$$#*I$*Y$*I$*Y$*I$*Y$$$%I$###$#I$&%#Y$#S$#L$%S$%I$###
        $#I$&%#Y$%S$%$#L$$#$$&%##%S$%$#L$&$'%%S$$#%I$###$#I$&%#Y$$S$##-V%#G%#U(#V($W(#^$#X(&^$#L'#[%#Y(#Z(#D&$M'#[(#D&#M
        '&>#]($[%#^(#_(#`('H&#V%$>#L'$a(#>$[%#>#_&#`&#>#N'#F%#[%#G&#b(%>#,#C$#D$$c(#N'*>#,
        #C)#G&$>#[%)>#V%#G%&D)#P%&H&(O'#O$#P'$#(O$#M$#Q'#M$#R'#S'#c$,
        O$#M$#Q'#M$#R'#S'##/c$%#*R$#Q%;R$0#/E&&Y%#E&#Y%#E)#Y%$E&&B'E&#B1#$<#8#<#($<#8#(#<#6%8$6%8#6#(#8#<#(#F)'8$($<#]%#
        (#8#(#%#(#8#G)$%$8#H)#6$8#%#8#6&=#I)#(#<$6$8#a$&b$#8$6$T$#(#b$$(#$#(2O$2J)2K)%`$#%#$&`$#O$$(&#&,#M&'C%$,&A#,$A#,
        $A#,#A#+$C%%A#,#+$A&+$A&+4A$,$A#,#A#,)A#+#A(+$A0+/,&.%,(.%,#.#L)$,$.%,&.#,&.#,#.#,#.&,#.$^%#.$^%%.',#.#,4.',&.+,
        $.#,#.#,*.#,B.$,&.',#.+,$.$,5.',$.+,'.$,$.&,:.$,2.*+#G$#H$#G$#H$0+$?&+$.(+#3#M)#N)S%+#,@+;,$A#+#A9+#3#A-+(,
        #A(+&?%3#?$3#?&+%3Q$+8F&-+7F&_$O$<<.T'#O)/T'<P)#O$72c'+$A*+$3$+*A#C%#,&+&A#C%#,&+$A$+$A%+'A0+#A#+#A$+(A-+%,
        $M&$Q)#,'3$A)+#3$+#3$+$?$+#3&+#N&$+#3#+$3$+#3%+#3%+$3*+%3'+#C%#+#C%'+.?-+#3#C%$A#C%#+$3#+#3&+$A#,
        -+#3$+#3#?4+#3#?&3#+#3#+$3%+#3#?'+#3$+$?&+$3-+$?'+$?$+#3'+#?#3#+#3#+#3#?6+#3#?'+$3$?#3#?#+$3#N&#?$+#?&+#3$+#?$+$
        3$R)$N&#+#3$+#3#+#3#+#3(+#3%+#3(+#?,
        +$31+#3$+#3&+#?#+#?&+%?#+#?-+$3%+#C$#D$#C$#D$#C$#D$#C$#D$#C$#D$#C$#D$#C$#D$@2#+%?++#30+#?0+#?#.$,$.#G$#H$#,$.#,
        %.',&.',%.%,&.#G$#H$#G$#H$#G$#H$#G$#H$#G$#H$2,c*+V$,$M&O%,
        #G$#H$#G$#H$#G$#H$#G$#H$#G$#H$#G$#H$#G$#H$#G$#H$#G$#H$#G$#H$#G$#H$$,(.#,0.*,#.),(.%,#.&,'.#,$.$,#G$#H$#G$#H$#.&,
        #.#,%.$,$.,,(.$,#G$#H$.,$.#^%2.#,&.$,#.#,#.$,#.#,&.',$.(,%.:,$.-,$.&,&.#,$.$,#.#^%$S)$,M$.$,*.#,J$.',#^%#,#.%,
        '.',%.&,#.%,'.#,#.$,'+%35+$?5+7,$+(,
        %+#?&+#?@+$F&J'+#T)#+R$%R$$#%#$%%$$#%#$#%#$#%#$&%#4#%#$#4#%#$'4#P'#c$%%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#
        $#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#
        $#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#4((#%#$#%#$%*#%#$'#%/#-#2$-H$$###$'##$$#Z$&)##U)#-0##B9&+#)&##)&##
        )&##)&##)&##)&##)&##)&##B'$>#R%#S%#R%#S%%>#R%#S%#>#R%#S%+>#^$$>#^$#>#R%#S%$>#R%#S%#C$#D$#C$#D$#C$#D$#C$#D$&>#F%#
        V),>$^$#F%%>#^$#M%#D&+>#M%#>$M%$+#>$F%#C$#D$#C$#D$#C$#D$#C$#D$#^$D$F&<O&##&O&#P&U%O&#P&.#X)P&<#$Q&$W),
        Q&$(#V%#M%#F%#>#(#F$#_%#R&#C$#D$#C$#D$#U'#V'#U'#V'#C$#D$$+#C$#D$#C$#D$#C$#D$#C$#D$#^$#D&$X)#++R&&*$P$#Y)'F$#<#(%
        Z)#U$#&#[)$(##X%&$#$*$])$F$#7#H%]%&#^)#X%$F$#7'#M$&##U$7#L&L$7##$(&O$,<B&H$(+##Q&2&A<##,O$@<*2#<1O$A<#(,
        O$/<#]%#<#]%9<1O$c,<cP)Q$c$(cR7Q$7&#F$YF$&%#Y$(+#J$&(U$#5#/N+&#F$#5$/2&,
        0$&6##%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#&#*%Y%#-*'$*#-
        #K$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$$E$$'H%&,
        `$$*#-#/%5#/*#9W$+K$$W$#%#$#%#$#%#$#%#$#%#$#%#$#%#$$4#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#
        $#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#c$*4#%#$#%#$$%#$#%#$#%#$#%#$#%#$#K$$W$#%#$#%#4
        #&#%#$#%$$#4#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$'%#4'%#$#%#$#%#$#%#$#%#$#%#$#%#$#%#$&%#$#%#$$%#$#%#$#%#$#%#$
        #%#$#%#$#%#$#%#$#%6##E$%c$#%#$#&$E$#4)&#'%&#*&&#'9&$)$'#)&(#*%#(2$(#R$#((#V$&$-$/*#$)T$&2)#*#'*#$/,
        0(#4*(&%-#&#-$&#',0>&''%*#J'#/9&-'#)#P$-##-?&%#%'#)Q$&#*$)&'$)$'$)#P$(-#5$/&-###F$,0&#$-'&#J$#F$+&,
        0'&##K$&('$)$'$)$'+#%&#'*&#'#)$#,
        0$##-%/2&#F$(&%(#&#J%#J$#J%T$&#'#&%'$I%$'#I%#&$I%#&#'#*#S&#*#S&:#$&#F$#-#5-&#)$'$)$/#&$F$#)#*,
        #(&$#(&$#(&+#)&##)&##E$4#$)4#W$&E$+4#E$$W$&#R%I$E$&$)#'$)#'$)#/#c%#*$#,
        0(#Fa-&.#9&&#S$&&#cc$_)cJ)T&P+[$$Q$#[$#Q$#[$$Q$,[$#Q$#[$#Q$#[$$Q$$[$%Q$F%[$$#L&[$H$#)I$.#'I$'##7#J$,
        7#M$/7##'7###7##$7##$7##N&73D'2(M'7(]$])7#`)#a)2(c$7$(X$7*(BN$,
        7$]$#Q%%(1C&#b)$V$#T%#c)#V$$T%#D%#E%#V$(#2*#V$$U&$V&#D%#E%#D%#E%#D%#E%#D%#E%#D%#E%#D%#E%#W'#X'#W'#X'$>#D%#E%&V$%
        V&$O%#Y'###O%#Z'$T%#U&#K%#L%#K%#L%#K%#L%$V$#W&#M$#C*$a$#M$###W&#Q%$V$&##]$#7#]$#&#]$###]$#7#]$#7#]$#7#]$#7#]$a&7
        $##G%###T%#D*#V$#Q%$V$#E*#K%#L%#V$#M$#O%#U&#Y'#V$,
        F*#Z'#O%#a$#M$#a$#T%#V$(G*6%#K%#W&#L%#H*#V&#S$(I*6L$#K%#M$#L%#M$#K%#L%#T%#J*#K*#O%#L*,
        7#['O$7$M*#L&@7%#(7$#(7$#(7$#%7%#$Q%#M$#S$#<$Q%###<&M$$<##+P%%_$$($N$.&##<&##5&##$&##1&$#0&D$#^&&'#%-&#O$2%#+(W$
        `$&23($2%(##/(%##(Q$#O$(#BD'#?&%#S$&1##*=2&#B&&2+#6&#`$*&#`$'#H$&'''#@&###5F$&&#*&#5'`$L$#J$%J$$P%&$#,
        0(#F$%&#F$$&#J$&*#V$&-##--%##1%##)%##$%##-$##1$##)$##$$%#V$&.#Y,&+#8&,
        #*&:##W%$['%E$##L$E$##+E$G%#(&$##&##N$&##$&%##&$#9&###5*29&$()2A&*#+2R$#5&##$&'#'28&(2%##5<&'##-<&H$#Z$&&#$2$&22
        $#P$2#&%'##$''#&'&&##%&##?&$#%*&##*+2)#(-$/#-)#?&$2#-?&%2B#*&#(>&$*&#'2(5#-+#X$&%##-(58&$#*25&'#*24&)#&5.#)2R%#K
        %&Y$#U$%/#U$$)#(2D$&$S&&J$*#,0(#,
        0&&#X%#&8%%##J$#Z%%*#H%#F$8$*#$b$R)#A2##L$&##$'#H%$#$&2#%&#U$$&*##-*(C$##J$$'%*?&,
        2#&*#8&-*&2'/8#4&&*&/H$#7&)26#9&+##)#'#)W$&0'#*$/'5&#62,0#*$&$'#&+##B$'#)O$&%)&'$)$*$-#_$&/#',##_$$#;&)#,
        0(#%'F$&''#)('$*##,0#-%/#&$)#&*#E$&#*$-#&+#$'#)R$&%)+'#)#P$&&$/$-#B%*#/#)#',
        0#&#-#&#-$/##62-#4&##;&%)%'$)#'#P$#*#I&$/#5$/#-#'$&#'a$#)&###&##&&##1&##,&#/(#Q$&#'%)('$*'#,
        0(#$'$)##*&$#$&$#8&##)&##$&##'&##$*#&#@#)#'&)$#$)$#$)#P$$##&(##@'##N*&&$)$#)*%#'*-#,
        &###&$##&##H$&###&#@$)('###@$##@##%@#)##$)#*#P$#*#&#Z%#O*$/##$-*#$*?#W$&%)*'$)#*$'#)#*&&$/#5$-,
        0$5###-#B%&@#R$&#@$)('#)#'$)#@#)$'#)$*$&#-#&*#,
        0H(#Q$&#@$)&'$#&)$'#)$*#-$/$5%I'1/&&$'D$#R$&%)*'$)#'#)#*#'$/#-#&-#,0(#/-5#M$&#'#)#'$)('#P$#*#&#-(#,
        0(#60>#=&$##'#)#'$)&'#)&'#*&#,0$2%/#()&[(#N$&%)+'#)$*#-F&#B%B$,
        0+2.#*&$##&$#*&##$&##:&#@')##$)$#$'#P$#*#&#)#&#)#*#/#-#/+#,0H%#*&$#I$&%)&'$#$'&)#*#&#-#&#)=##&,
        'J$&#B#*&'#)#&&'%-$/%-#**##&('$)%'P$&/'#)#P*#*#-$/#&%-$5/#K%&)#,-X%##'#)%'#)#'#)Z%#C$&#-0#,
        0(#+&##G$&#))'##('#)#*#&$/#5$-,#,052%##-#5@&$#8'###))'#)$'#)$'K%#)&##$&##H$&('%##'##$'##%'#*#'$*#&#'*#,
        0(#(&##$&##B&')##$'##$)#'#)#*#&)#,0(#K$&#X%$&&#,0X*#5&$'$)$/)#$'#&#)/&##D$&$)''%#$)#'#P$#*$/--,
        0#*W%##&1#72*(&R$3(/##-]?&H&#Q&`$##'5-#F)&NU%#C&&$-/#RD$&2_$#B(&1*,#^`&&'#I5&[X)#@&.'%)$'#*,0HY$#[4&)#A&##,
        0&#$/Q%&##,0(#@&$#'*#/,#R$&)*$/#5$-&($U$$F$#/#(,#,0##)2##7&'#5&R0#%U$J$&$K$#-$/,
        0H)#B%B$92#5#/$-'#;%$#;$N$#M%&&##'#&Y$))#&J$/K$c$#$F$#-#F$#Q*-#$R*$S*%R&+#XI*_%K$#B_%C&#U&_%`R+#&K$##)K$##$K$##E
        ,&1##&?#%&$##&0#&&*#N/_%FK%#M&&'#/&%#+&)#,&$##(#B#'#/&G%_^&#X)(<<,]'%(%#V0((#9(1#2(#b$1#P$*$#9*+#V&(_$#X*(,
        #I$($#W$()<$T*%*%((P$*G%**$()*@(&*/((<L$(7#D%(%B#(]&#62.#62.#Y%(+#;2I'#<8*6$T$26<8)6##$T$26<8*6$T$26#8##$8$##8$#
        $8$#&8##*8&6###6###6$T$&6##-6<8*6$T$26$8##&8$#*8##)8##*6$T$26$8##&8##'8###8%#)8##*6$T$26<8*6$T$26<8*6$T$26<8*6$T
        $26<8*6$T$26<8*6$T$26<8*6$T$46$#;8#M$;6#a$(6;8#M$;6#a$(6;8#M$;6#a$(6;8#M$;6#a$(6;8#M$;6#a$(6#8#6$#T$U*c2(Y$B&(T$
        B*(#B0(#B$(#5#/$5#-1#'B##1BRE$#,4#&14#K'&4(#(4W)#)'##3'$#)'##$'##'''#>E$$N%<E$#N%'E$C$##'R&#O$&%#)*'U$$F$$#,
        0&##&#(c,#@&#*3#N$&&*,0'##R$R1#=&#U$&B,0X)#@&#*#Z%#&,
        0&##-c(#A&##%&#'$&#')&$''&#'*##&#U$c)#)&##&&##$&##1&##G)&$#+2)*K$#D$%D$$%Z%#'%*#U$&#,
        0&#$-S;#^$2#(%2#R$&2N%#O$2#(12D)#&=##==##$=###=$##=##,
        =##&=###=###=(##=&##=###=###=##%=##$=###=$##=###=###=###=###=##$=###=$#&=##)=##&=##&=###=##,
        =##3='#%=##'=##3=V$#$b$P+#&(#1I$(&:F&(.:1($:1(#:0(#1#:G$(,:-O$$2%(A<#(<V*(<<X&%<%($^'.X&$^',X&&(#1#(#<,
        15(Z$:<W*#<#U%#]%/:,
        <#U%6<#U%$<'U%#]%%U%#<&:+<):$U%0:((]':C$1#9$(+9+1#9H%1#9)1#;01$($9#(%9$($9D$1%;$1#;$1#;$Y&$9'1.931$(#9#1#9#(#9%1
        'X*b$1#9#1#9$;$1-;715;%1#;&1%;#1%;)1#;#1#;:1#;T%1#9#(b$1-($9&1#(:1)($9$(#9$Y&&9#;.(#9$(&9$(#Y&&($;/(#1#9$(#9*($9
        +(#9'(%9.(%9*(%9$(#9#(#9&(#9((#9%(#9((#9L%1%;%1';R$(E$1#;21%;+1#;'1'(#9#;%9%1$(&1%:&1(9%(#9#($1%:#9$(#9+1%:])((:
        .1&:#11:.(&:Z$(*:,((:J$(*:@($:.(&:$(0:+b$I$:.(#;$1#;*1*;(1#;+1,
        ;#1#(%;)1#(R$1#;Z$1&Y*#1$;#1$;#1#;31%;#1/;D$1Z%(*:0($:/1%:-1%:W$1%;#1#:#1&:21$:.1&:#1+;):U'(##_%(,
        ]'#('#aB:$N$cYL$Q$B#aK'Q$$#PW(Q$$#SL*Q$1#P6Q$DP%#a3[$cQ$#$N$M^'Q$'#LL+Q$F`U$#$N$acc$#$N$acc$#$N$acc$#$N$acc$#$N$
        acc$#$N$acc$#$N$acc$#$N$acc$#$N$acc$#$N$acc$#$N$#P%#O'@P%c%Z*c&P%R*C&RS&P%ac_$#$N$acc$T&$N$acc$T&$N$
        """

    /// (length - 1, script), likewise.
    static let scriptRuns: StaticString = """
        C%P(<L%(P(<L%Q$P(#L%1P(#L%'P(9L%#P(AL%#P(C1L%I$P('L%'P($16P(R&O(&P$#P(%P$$Q(&P$#P(#P$&Q(#P$#P(#P$#P(%P$#Q(#P$#Q(
        6P$#Q(b$P$0<2P$G'?$O(K(?#Q(H$($Q(T$($Q(%(#Q(Y$X$*Q(=X$&Q((X$-Q('&#P((&#P(0&#P(%&#P(B&#P(,
        &-O(<&#O(N&&#P(D$&0P'#Q(_$P'$Q(%P'R$&T$]'0Q(^$I&$Q(%I&P$`&$Q(1`&#Q(>V%$Q(#V%#Q(-P''Q(D$&'Q(M%&#P(?&S%@&O(1@$P(<@
        &.#Q(*.$Q($.$Q(8.#Q().#Q(#.%Q(&.$Q(+.$Q($.$Q(&.*Q(#.&Q($.#Q('.$Q(;.$Q(%S$#Q((S$&Q($S$$Q(8S$#Q()S$#Q($S$#Q($S$#Q(
        $S$$Q(#S$#Q('S$&Q($S$$Q(%S$%Q(#S$)Q(&S$#Q(#S$)Q(3S$,Q(%Q$#Q(+Q$#Q(%Q$#Q(8Q$#Q()Q$#Q($Q$#Q('Q$$Q(,
        Q$#Q(%Q$#Q(%Q$$Q(#Q$1Q(&Q$$Q(.Q$)Q()Q$#Q(%O&#Q(*O&$Q($O&$Q(8O&#Q()O&#Q($O&#Q('O&$Q(+O&$Q($O&$Q(%O&)Q(%O&&Q($O&#Q
        ('O&$Q(4O&,
        Q($U'#Q((U'%Q(%U'#Q(&U'%Q($U'#Q(#U'#Q($U'%Q($U'%Q(%U'%Q(.U'&Q('U'%Q(%U'#Q(&U'$Q(#U'(Q(#U'0Q(7U''Q(/Y'#Q(%Y'#Q(9Y
        '#Q(2Y'$Q(+Y'#Q(%Y'#Q(&Y')Q($Y'#Q(%Y'#Q($Y'$Q(&Y'$Q(,Y')Q(+Y'/G%#Q(%G%#Q(9G%#Q(,
        G%#Q('G%$Q(+G%#Q(%G%#Q(&G%)Q($G%'Q(%G%#Q(&G%$Q(,
        G%#Q(%G%.Q(/^%#Q(%^%#Q(U$^%#Q(%^%#Q((^%&Q(2^%$Q(<^%#Q(%H'#Q(4H'%Q(:H'#Q(+H'#Q(#H'$Q()H'%Q(#H'&Q((H'#Q(#H'#Q(*H'(
        Q(,H'$Q(%H'.Q(]$^'&Q(#P(>^'G$Q($K%#Q(#K%#Q('K%#Q(:K%#Q(#K%#Q(9K%$Q('K%#Q(#K%#Q()K%#Q(,
        K%$Q(&K%BQ(J%_'#Q(F$_'&Q(I$_'#Q(F$_'#Q(1_'#Q()_'&P($_'G$Q(c'C&H$J$#Q(#J$'Q(#J$$Q(M$J$#P(&J$c*T$K%H$#Q(&H$$Q()H$#
        Q(#H$#Q(&H$$Q(K$H$#Q(&H$$Q(C$H$#Q(&H$$Q()H$#Q(#H$#Q(&H$$Q(1H$#Q([$H$#Q(&H$$Q(E%H$$Q(BH$%Q(<H$(Q(X%:$Q((:$Q(c67?K
        &%Q(M%_&%P(-_&)Q(8['+Q(#['7V$$P(+Q(65.Q(/Q'#Q(%Q'#Q($Q'.Q(a%D%$Q(,D%(Q(,
        D%(Q($`%$P(#`%#P(6`%(Q([%`%)Q(M$`%'Q(H%7,
        Q(AN%#Q(.N%&Q(.N%&Q(#N%%Q(.N%@S'$Q('S'-Q(N$T'&Q(<T'(Q(-T'%Q($T'BD%>4$Q($4b$J%#Q(?J%$Q(-J%(Q(,
        J%(Q(0J%$Q(P$O($Q(.O(6Q(O%*#Q(T$*c$M'V$-*Q(&-Z$M%%Q(1M%%Q(%M%R$L&-?'Q(M$J$$Q(%J$*M'*Q(%O(#P(/O(#P()O(&P(#O((P(#O
        (%P($O(#P('Q(H$L%'P$#?S$L%'P$&L%'P$/L%#?H%L%#P$c$O(c*L%8P$$Q((P$$Q(H$P$$Q((P$$Q(*P$#Q(#P$#Q(#P$#Q(#P$#Q(AP$$Q(W$
        P$#Q(1P$#Q(0P$$Q((P$#Q(5P$$Q(%P$#Q(+P$#Q(.P($O(Y%P(#Q(-P(#L%$Q(-P(#L%1P(#Q(/L%%Q(D$P(0Q(C$O(1Q(H$P(#P$%P($L%(P(#
        L%=P(#L%3P(K$L%%P(&Q(]7P(8Q(-P(7Q(c?P(c*3V6P($Q(L'P(c%K$BL%V&<'Q()<H$J$#Q(#J$'Q(#J$$Q(Z$Z')Q($Z'0Q(#Z'9H$+Q()H$#
        Q()H$#Q()H$#Q()H$#Q()H$#Q()H$#Q()H$#Q()H$#Q(B?a%P(D$Q(<U$#Q([%U$.Q(X)U$<Q(7P(#U$#P(#U$;P(+U$&O($T$*P(&U$&P(#Q(X%
        Y$$Q($O($P(%Y$#P(]%b$$P(%b$'Q(M$1#Q(a%T$#Q(2P(B1H$P(+Q(#P(2b$AT$#Q(c$P(AT$S%P(Q$b$#P(Z%b$J(P(cP)U$c$P(cR7U$OG$M(
        %Q(Y$M(+Q(R$Q%N,F(6Q(c%?Z%+*Q(D$P(H&L%%P(T%L%6Q(1L%O$O'%Q(,
        P((Q(Z$V&*Q(H%b&*Q(.b&(Q(B@P$a$#P(#a$F$]&-Q(#]&?T$%Q(P%`$#Q(#P(,`$&Q($`$AC&#Q(Y$9+Q(09$Q(,
        9$Q(&9BC&E%W':Q('W'9b%,Q((H$$Q((H$$Q((H$+Q()H$#Q()H$#Q(M$L%#P(+L%#P$&L%$P(&Q(R%:P$b%$Q(,
        b%(Q(Fa-T$.Q(9T$&Q(S$T$FK+Q(P.U$$Q(L&U$H$Q()L%.Q('('Q(<X$#Q('X$#Q(#X$#Q($X$#Q($X$#Q(,X$P2&$P(R'&BQ(2&2O(,
        P((Q(0O($?E$P(#Q(5P(#Q(&P(&Q('&#Q(I'&$Q(#P(#Q(BP(<L%(P(<L%-P(,
        b$#P(O$b$$P(AT$%Q((T$$Q((T$$Q((T$$Q(%T$%Q()P(#Q()P(,
        Q('P($Q(.P%#Q(<P%#Q(5P%#Q($P%#Q(1P%$Q(0P%D$Q(^&P%'Q(%P(&Q(O$P(%Q(+P(Q%P$#Q(/P(%Q(#P$Q$Q(O$P(#O(D'Q(?R%%Q(S$81Q(#
        O(=P(&Q(F$_$+Q(%_$=N$'Q(M$U&'Q(@E(#Q(#E(F$J(&Q(0J(L$Q(R%C$R$C'@Q&$Q(,
        Q&(Q(F$P&&Q(F$P&&Q(J$F$*Q(V$$-Q(#$-G(#Q(1G(#Q()G(#Q($G(#Q(-G(#Q(1G(#Q()G(#Q($G(%Q(V$b'.Q(Y,O%+Q(8O%,
        Q(*O%:Q((L%#Q(L$L%#Q(+L%G%Q((>$Q(#>#Q(N$>#Q($>%Q(#>$Q(#>8'#Q(+'BS&AG&*Q(+G&R$Q(5W$#Q($W$'Q('W$>Y&%Q(#Y&<S%'Q(#S%
        <F'H$Q(B]%:[%&Q(6[%$Q(P$[%&C%#Q($C%'Q(*C%#Q(%C%#Q(?C%$Q(%C%&Q(,
        C%)Q(+C%)Q(Ba&BF&BQ(I$W%&Q(.W%+Q(X$)%Q())8[&$Q(*[&5W&'Q(*W&4X&)Q(&X&.Q()X&R%Q(K%N&Y$Q(U$^$/Q(U$^$)Q((^$J$^&*Q(,
        ^&(Q(H$I$%Q(?I$*Q($I$R)Q(A&#Q(L$L(#Q(%L($Q($L(2Q((&*Q(+&C$Q((&J$J'*Q(L$I'8Q(<R&H$Q(>;6Q(9G$+Q(P%2&Q(F$2+Q(#2E%I%
        ,Q(#I%$Q(;K')Q(,K'(Q(W$6#Q(46*Q(I$T%+Q(c%D'#Q(6H'-Q(4E%#Q(Q$E%a$Q()c%#Q(#c%#Q(&c%#Q(1c%#Q(-c%(Q(^$G''Q(,
        G'(Q(&O$#Q(*O$$Q($O$$Q(8O$#Q()O$#Q($O$#Q('O$#Q(#O(+O$$Q($O$$Q(%O$$Q(#O$(Q(#O$'Q()O$$Q()O$%Q('O$-Q(,
        D(#Q(#D($Q(#D(#Q(H$D(#Q(,D(#Q(#D($Q(#D(#Q(&D(#Q(,D(#Q($D(*Q($D(?Q(_%H&#Q('H&@Q(J%`'*Q(,
        `'H(Q(X$E'$Q(H$E'D$Q(G%_%-Q(,_%(Q(/`%5Q(]$R'(Q(,
        R'(Q(6C&>Q(=%$Q(1%&Q(9%[(Q(_$BF&Q(U%H(.Q(#H()A$Q(#A$Q(*A#Q($A#Q(@A#Q($A$Q(.A+Q(,
        AH%Q(*E&$Q(P$E&$Q(-E&=Q(J%N(*Q(U%L'/Q(27[$T&)Q(,@X%Q(*D'Z%Q(D$N'0Q(,N'(Q(+0#Q(O$0#Q(00,
        Q(?0%Q(BX%$Q(8X%#Q(0X%K%Q()M$#Q($M$#Q(N$M$%Q(#M$#Q($M$#Q(+M$*Q(,M$(Q((L$#Q($L$#Q(G$L$#Q($L$#Q((L$)Q(,
        L$(Q(N$c'&Q(,c'X*Q(;U%)Q(3c$#Q(K$c$%Q(?c$W%Q(#Q%1Q(T$U'/Q(#U']?K(H&Q(Q&K(#Q('K(-Q(F)K(NU%Q(E&=/Q(XE$E$,
        Q(^`&E$'Q(I5Z$[X)Q(]$R$HY$Q([4+)Q(Aa%#Q(,a%&Q($a%Q%a'#Q(,a'(Q(@,$Q((,,Q(H%[$,Q(,
        [$#Q()[$#Q(7[$'Q(5[$R0Q(]$H%H)Q(^%Y%'Q(;/$Q(;/N$Q(M%Z&&Q([$Z&)Q(3Z&c$Q(#V'#J&$U$#F%-Q()U$+Q(cZ)V'X1F%K$Q(#F%AV'C
        &Q(U&V'`R+Q(&b$#Q()b$#Q($b$#Q(#b$b+Y$%b$1Q(#Y$?Q(%Y$$Q(#b$0Q(&b$*Q(N/J&FK%Q(M&D$'Q(/D$%Q(+D$)Q(,
        D$$Q(&D$&P(_^&Q(`*P(%Q(V0P((Q(9P(1Q(3P(1Q(P$O($Q(9O(+Q(V&P(_$Q(X*P(,
        Q(I$P($Q(a$P(%O(3P(*O($P()O(@P(&O(`$P(7Q(H%P$]&Q(6P(.Q(6P(.Q(Y%P(+Q(;P(I'Q(W%P(#Q(I%P(#Q($P($Q(#P($Q($P($Q(&P(#Q
        (.P(#Q(#P(#Q()P(#Q(C%P(#Q(&P($Q(*P(#Q()P(#Q(>P(#Q(&P(#Q('P(#Q(#P(%Q()P(#Q(V-P($Q(F,
        P($Q(T$P(N7c&1Q('c&#Q(1c&RE$Q(AL%(Q((L%W)Q()K$#Q(3K$$Q()K$#Q($K$#Q('K$'Q(a$?C$Q(#?R&Q(O$]$%Q(0]$$Q(,]$&Q($]$c,
        Q(AC(3Q(]$I('Q(#I(R1Q(L$D&X)Q(M$M&&Q(#M&c(Q(AX'#Q(8X'*Q($X'c)Q()H$#Q(&H$#Q($H$#Q(1H$#Q(G)Z%$Q(2Z%K$Q(N%#&Q(,
        #&Q($#S;Q(F%P(N%Q(`$P(D)Q(&&#Q(=&#Q($&#Q(#&$Q(#&#Q(,
        &#Q(&&#Q(#&#Q(#&(Q(#&&Q(#&#Q(#&#Q(#&#Q(%&#Q($&#Q(#&$Q(#&#Q(#&#Q(#&#Q(#&#Q(#&#Q($&#Q(#&$Q(&&#Q()&#Q(&&#Q(&&#Q(#&#
        Q(,&#Q(3&'Q(%&#Q('&#Q(3&V$Q($&P+Q(N$P(&Q(F&P(.Q(1P($Q(1P(#Q(1P(#Q(G$P(,
        Q(P(P(Z$Q(<P(#Y$$P(/Q(N$P(&Q(+P()Q($P(0Q((P(]'Q([AP(%Q(3P(%Q(/P(%Q(])P((Q(.P(&Q(#P(1Q(.P(&Q(Z$P(*Q(,
        P((Q(J$P(*Q(@P($Q(.P(&Q($P(0Q(+P(I$Q(Z-P(*Q(0P($Q(/P(%Q(-P(%Q([$P(#Q(#P(&Q(2P($Q(.P(&Q(,
        P()Q(U'P(#Q(I&P(GC$Q(cYL$U$BQ(aK'U$$Q(PW(U$$Q(SL*U$1Q(P6U$DP%Q(a3U$DR$Q(M^'U$'Q(LL+U$I`U8Q(#P(@Q(c%P(c&Q(R*O(RSc
        (Q(
        """

    /// (count, scripts…): sets of Script_Extensions; the first stands for the code point's own script.
    static let extensions: StaticString = """
        #$U$$@%O$U'(1T$U$Y$b$%Y$b$%?K$)1T$U$Y$b$M(%1L%$P$%@D'%L%N'%L%P'*&I$I&^&P']'L(%&P'%`%V&'.@O$G%%.@%@O$$D$%U$V'.@BQ
        $S$E%I%T%_%G'R'`'%&]'%>P%3)8<D$F$J$K$L$N$P$U$L%S%T%U&C'*.?@L%Q%^'C(%L%Q%%L%^'+:<?P$L%U&N'S'+:?P$L%P&N'S'b'':?L%Z
        '(K$L%N'P'^'.$:<?N$P$L%P&P'Z'b')<F$K$N$b$L%(?P$L%U&Z',
        <D$X$L%U&P'S'Z'b'.(?D$N$P$X$L%U&P'S'Z'%L%Z'&D$L%P'':?L%P&&:L%S'%H$L%&?L%b''P$L%U&b'):D$b$L%P'Z'':D$L%P'&L%N'P'&:
        L%P'*$:N$L%N'P'^'%L%P&&$L%b'$L%%<P$%?U&%?L%&(J$K$&&P']'+#&I$I&^&P']'L(,
        #&V%W%R&X&^&I'P'&&]'L(%&^&2.@O$Q$S$G%L%^%E&H&O&D'U'Y'`'0.@O$Q$S$G%L%^%H&O&U'Y'`'8.@BL$M$O$Q$S$G%T%^%E&M&O&G'H'O'
        R'U'Y'`':.@BL$M$O$Q$R$S$G%N%T%^%E&M&O&G'H'O'R'U'Y'`''@BI%T%&.6O'%S$c%%Q$E%&G%E&D(&6C&S'&J$K$L%$_&'5V$Q'['&@O$G%(
        .@H&Y'`'&.@Y'&@H&D''.@H&Y')@G%^%O&U'Y'&@H&`'&@E&H&&.@D'%@H&'.@H&D'..@O$G%^%E&O&H'Y'`'D('@O$G%D($.$E&&?L%P'$P'&L%
        `%V&%#&)8J$K$^$R%N&'8P$^$]%&@O$L%%<L%%)N&*)8J$^$I%S%`&&#&^$*1T$U$Y$b$`%M(+1T$U$Y$b$`%V&M(+1T$U$Y$b$`%_'M(,
        1T$U$Y$b$Q%`%_'M(%1U$&U$Y$b$%U$L%3@BQ$S$E%G%I%T%^%_%E&D'G'R'`'D(2@BQ$S$E%G%I%T%_%E&D'G'R'`'D(/@BQ$S$E%I%T%_%D'G'
        R'`'&.@D(%@U'&a$L%C&%4`$%&I&&=>P%&>O%P%%&<%W%R&
        """

    /// (length - 1, set of extensions), likewise.
    static let extensionRuns: StaticString = """
        Y(##;F3##<,
        ##+##%+###=+##>###+H$##?#@#A#B#C$#D$#E$#F$#G$#H$#I$#J$#K$#.#L$###.#M$###N$1##O$#P$#/)##Q$#/###R$#S$2##,$##,
        4##T$'##U$&#/V$&#$W$O+##X$#)$Y$#)C+##Z$D'##00##0#[$$##]$B##^$,#-1,#,_$(##1E&##`$_6##a$#b$3##c$#C%,D%X&#,E%X&#,
        F%X&#,G%X*#0&T*#,H%R=#,
        I%S(##J%QR$#%K%I%#$L%M)#$2###2LI$##3#%#3#M%#%#N%#O%#P%#Q%#-#R%#%$-$%#-#4#S%(%#T%#U%#V%#%#W%&%#X%#5#Y%$4#Z%$5#[%G
        )#$,X$##]%###^%V4##_%A##`%,##a%$##b%T'##c%HL&##C&:##D&#E&,##6&##F&###)N0#27###G&#H&#'$##$##$I&$J&(*###'**&',
        #&K&$##''(###'&#$L&$$[%#&(%##(]%##*#(U'#2$B#H$$+##7R$#J$$Z$#S$$1#.$U$##$Z%#;$,#'$c%#A$RV?##)R'#*M&J,
        #%N&%O&$8#P&#8Y(##Q&###R&]$##S&c'##T&P_7#$U&T(##9,##9I%#$']+#'*,
        ##(O$#$(c-#$V&#:&#O$W&%#+:c/#>X&Xc$##Y&PC%##&###&Y$#$&UG&#$&###&NIJ$#&6_X(#4$aY*#$$PPFA#
        """
}
