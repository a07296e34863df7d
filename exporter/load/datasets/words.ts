/** Common short English words: most tokenizers encode each as one token, including the space before it. */
export const WORDS: readonly string[] = `
able about above across act add after again age ago air all allow almost alone along also always among and animal answer any appear
apple area arm art ask away baby back bad bag ball bank bar base bath bear beat bed been before began begin behind being below best
better between big bird black blood blow blue board boat body bone book born both bottom box boy branch bread break bring brother
brought brown build built burn bus business busy but buy call came camp can capital car card care carry case cat catch cause center
chair chance change chart check child choose circle city class clean clear climb close cloud coat cold color come common company
complete contain control cook cool copy corn corner correct cost could count country course cover create cross crowd cry cut dance
dark date daughter day dead deal dear death decide deep degree design desk did differ dinner direct do doctor does dog done door double
down draw dream dress drink drive drop dry during each ear early earth east easy eat edge effect egg eight either else end enemy energy
engine enough enter equal even evening event ever every exact example except expect eye face fact fair fall family far farm fast fat
father favor fear feed feel feet fell felt few field fight figure fill final find fine finger finish fire first fish fit five flat
floor flow flower fly follow food foot for force forest form forward found four free fresh friend from front fruit full fun game
garden gas gave general get girl give glad glass go gold gone good got govern grand grass great green grew ground group grow guess
guide gun hair half hand happen happy hard has hat have he head hear heart heat heavy held help her here high hill him his history
hit hold hole home hope horse hot hour house how human hundred hunt hurry ice idea if in inch include industry insect iron island
job join joy jump just keep kept key kill kind king knew know lady lake land language large last late laugh law lay lead learn
least leave led left leg less let letter level lie life lift light like line list listen little live local lone long look lost lot
loud love low machine made main major make man many map mark market master match material matter may me mean meat meet men metal
method middle might mile milk million mind mine minute miss modern moment money month moon more morning most mother motion mountain
mouth move much music must my name nation nature near neck need never new next night nine no noise noon nor north nose note nothing
notice noun now number object observe ocean of off offer office often oil old on once one only open opposite or order original other
our out over own page paint pair paper parent part party pass past path pattern pay people period person phrase pick picture piece
place plain plan plane planet plant play please poem point poor port pose position possible post pound power practice prepare present
press pretty print problem process produce product proper property provide pull push put question quick quiet quite race radio rail
rain raise ran range rate rather reach read ready real reason record red region remember repeat reply report rest result rich ride
right ring rise river road rock roll room root rope rose round row rule run safe said sail salt same sand save saw say scale school
science sea search season seat second see seed seem self sell send sense sent separate serve set settle seven several shall shape share
sharp she sheet shine ship shirt shoe shop shore short should shoulder shout show side sight sign silent silver similar simple since
sing single sister sit six size skill skin sky sleep slip slow small smell smile snow so social soft soil soldier solution some son
song soon sort sound source south space speak special speed spell spend spoke spot spread spring square stand star start state station
stay steam steel step stick still stone stood stop store story straight strange stream street strong student study subject success
such sudden sugar suggest suit summer sun supply support sure surface surprise swim system table tail take talk tall teach team tell
ten term test than thank that the their them then there these they thick thin thing think third this those though thought thousand
three through throw time tiny tire to together told tone too took tool top total touch toward town track trade train travel tree
triangle trip trouble truck true try tube turn twenty two type under unit until up us use usual valley value vary very view village
visit voice wait walk wall want war warm was wash watch water wave way we wear weather week weight well went were west what wheel when
where which while white who whole whose why wide wife wild will win wind window winter wire wish with woman wonder wood word work world
would write written wrong year yellow yes yet you young your
`
  .trim()
  .split(/\s+/);
