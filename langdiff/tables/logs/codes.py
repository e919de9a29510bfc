"""Codes of languages that are recognized in the names of tasks."""

# of ISO 639-1, of the languages of FLORES-200, and of macrolanguages
CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo
es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg
ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn
no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta
te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu ace acm acq aeb afr ajp aka als
amh apc arb ars ary arz asm ast awa ayr azb azj bak bam ban bel bem ben bho bjn bod bos bug bul cat ceb ces cjk ckb
crh cym dan deu dik dyu dzo ell eng epo est eus ewe fao fij fin fon fra fur fuv gaz gla gle glg grn guj hat hau heb
hin hne hrv hun hye ibo ilo ind isl ita jav jpn kab kac kam kan kas kat kaz kbp kea khk khm kik kin kir kmb kmr knc
kon kor lao lij lim lin lit lmo ltg ltz lua lug luo lus lvs mag mai mal mar min mkd mlt mni mos mri mya nld nno nob
npi nso nus nya oci ory pag pan pap pbt pes plt pol por prs quy ron run rus sag san sat scn shn sin slk slv smo sna
snd som sot spa srd srp ssw sun swe swh szl tam taq tat tel tgk tgl tha tir tpi tsn tso tuk tum tur twi tzm uig ukr
umb urd uzn vec vie war wol xho ydd yor yue zho zsm zul ara aze fas iku kur lav mon msa nep nor ori orm pus sqi swa
uzb yid chi ger fre dut gre per alb arm baq bur cze geo ice mac mao may rum slo tib wel cmn hbs lat lzh
"""
KNOWN = frozenset(CODES.split())
