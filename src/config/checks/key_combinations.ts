/** What we compute: keys of Apple's that lack what belongs to them. */
import type { RawConfig } from '../raw_config.ts'
import type { Path } from './issues.ts'

/** Complains of what the account at `above` lacks: a key its id, an id its key, a vendor number the key to ask with. */
export function checkKeys(raw: RawConfig, above: Path): void {
  const has = (key: string): boolean => raw.has([...above, key])
  const hasKey = (kind: string): boolean => has(`${kind}_key`) || has(`${kind}_key_file`)
  const addIssue = (key: string, problem: string, advice: string): void =>
    raw.addIssue([...above, key], problem, advice)

  for (const kind of ['connect', 'purchase']) {
    const idAdvice = `Write ${kind}_key_id = "ABCDE12345": it stands in the name of the key's file.`
    const fileAdvice = `Write ${kind}_key_file = "keys/ABCDE12345.p8", the file that Apple gave, or take ${kind}_key_id out.`
    if (hasKey(kind) && !has(`${kind}_key_id`))
      addIssue(`${kind}_key_id`, 'is missing beside its key', idAdvice)
    if (!hasKey(kind) && has(`${kind}_key_id`))
      addIssue(`${kind}_key_id`, 'stands without its key', fileAdvice)
  }
  if (has('vendor_numbers') && !hasKey('connect') && !has('connect_key_id')) {
    const advice = 'Run `windfall connect`, or write connect_key_id and connect_key_file.'
    addIssue('vendor_numbers', 'stand without the App Store Connect key to ask with', advice)
  }
  if (!hasKey('purchase') || has('issuer_id') || has('purchase_issuer_id')) return
  const advice =
    'Write issuer_id = "69a6de70-03db-47e3-e053-5b8c7c11a4d1", as it stands above the list of keys.'
  addIssue('issuer_id', 'is missing, and an In-App Purchase key works only with it', advice)
}
