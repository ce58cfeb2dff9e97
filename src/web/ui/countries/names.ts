/** Country names of storefronts. */
import { locale, whenNeeded } from '../locale.ts'

const regions = whenNeeded(() => new Intl.DisplayNames(locale, { type: 'region' }))
/** Returns the country name of a three-letter storefront code. Browsers know only two-letter codes. */
export function countryName(code: string | null | undefined): string {
  if (!code) return '–'
  const twoLetterCode = TWO_LETTERS[code]
  return twoLetterCode ? (regions().of(twoLetterCode) ?? code) : code
}
/** The two-letter code of a storefront; null if it is unknown. */
export const twoLettersOf = (code: string | null): string | null => TWO_LETTERS[code ?? ''] ?? null
/** The storefronts whose name contains a text. */
export const countriesNamed = (text: string): string[] =>
  Object.keys(TWO_LETTERS).filter((code) => countryName(code).toLowerCase().includes(text.toLowerCase()))
/** ISO 3166-1 codes of each storefront: three letters as in Apple’s data, and two letters for name lookups. */
const CODE_PAIRS =
  'AGO:AO,AIA:AI,ALB:AL,ARM:AM,ATG:AG,AUT:AT,BHR:BH,BGR:BG,BLZ:BZ,BLR:BY,BEN:BJ,BMU:BM,BIH:BA,BWA:BW,BRB:BB,BRN:BN,BFA:BF,KHM:KH,CPV:CV,CYM:KY,TCD:TD,CHL:CL,CHN:CN,COD:CD,COG:CG,CRI:CR,HRV:HR,CYP:CY,CZE:CZ,CIV:CI,DNK:DK,DMA:DM,DOM:DO,ECU:EC,EGY:EG,SLV:SV,EST:EE,SWZ:SZ,FJI:FJ,FIN:FI,FRA:FR,GAB:GA,GMB:GM,GEO:GE,DEU:DE,GHA:GH,GRC:GR,GRD:GD,GTM:GT,GNB:GW,GUY:GY,HND:HN,HKG:HK,HUN:HU,ISL:IS,IND:IN,IDN:ID,IRQ:IQ,IRL:IE,ISR:IL,ITA:IT,JAM:JM,JPN:JP,JOR:JO,KAZ:KZ,KEN:KE,KOR:KR,XKS:XK,KWT:KW,KGZ:KG,LAO:LA,LVA:LV,LBN:LB,LBR:LR,LBY:LY,LTU:LT,LUX:LU,MAC:MO,MDG:MG,MWI:MW,MYS:MY,MDV:MV,MLI:ML,MLT:MT,MRT:MR,MUS:MU,MEX:MX,FSM:FM,MDA:MD,MNG:MN,MNE:ME,MSR:MS,MAR:MA,MOZ:MZ,MMR:MM,NAM:NA,NRU:NR,NPL:NP,NLD:NL,NZL:NZ,NIC:NI,NER:NE,NGA:NG,MKD:MK,NOR:NO,OMN:OM,PAK:PK,PLW:PW,PAN:PA,PNG:PG,PRY:PY,PER:PE,PHL:PH,POL:PL,PRT:PT,QAT:QA,ROU:RO,RUS:RU,RWA:RW,STP:ST,SAU:SA,SEN:SN,SRB:RS,SYC:SC,SLE:SL,SGP:SG,SVK:SK,SVN:SI,SLB:SB,ZAF:ZA,ESP:ES,LKA:LK,KNA:KN,LCA:LC,VCT:VC,SUR:SR,SWE:SE,CHE:CH,TWN:TW,TJK:TJ,TZA:TZ,THA:TH,TON:TO,TTO:TT,TUN:TN,TUR:TR,TKM:TM,TCA:TC,UGA:UG,UKR:UA,ARE:AE,GBR:GB,USA:US,URY:UY,UZB:UZ,VUT:VU,VEN:VE,VNM:VN,VGB:VG,YEM:YE,ZMB:ZM,ZWE:ZW,AFG:AF,DZA:DZ,ARG:AR,AUS:AU,AZE:AZ,BHS:BS,BTN:BT,BOL:BO,BRA:BR,CMR:CM,CAN:CA,COL:CO,BEL:BE'
const TWO_LETTERS: Record<string, string> = Object.fromEntries(
  CODE_PAIRS.split(',').map((pair) => pair.split(':') as [string, string]),
)
/** The three-letter codes of all storefronts. */
export const STOREFRONT_CODES: readonly string[] = CODE_PAIRS.split(',').map((pair) => pair.slice(0, 3))
