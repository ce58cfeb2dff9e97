/** Checks that the API keys of an account are complete. */
import type { RawConfig } from '../raw_config.ts'
import type { Path } from './issues.ts'

/** Reports what the account at `above` lacks: the id of a key, the key of an id, the key to fetch reports with. */
export function checkKeys(raw: RawConfig, above: Path): void {
  const has = (key: string): boolean => raw.has([...above, key])
  const hasKey = (kind: string): boolean => has(`${kind}_key`) || has(`${kind}_key_file`)
  const addIssue = (key: string, problem: string, advice: string): void =>
    raw.addIssue([...above, key], problem, advice)

  for (const kind of ['connect', 'purchase']) {
    const idAdvice = `Write ${kind}_key_id = "ABCDE12345": it is in the name of the key file.`
    const fileAdvice = `Write ${kind}_key_file = "keys/ABCDE12345.p8", the file from Apple, or remove ${kind}_key_id.`
    if (hasKey(kind) && !has(`${kind}_key_id`))
      addIssue(`${kind}_key_id`, 'is missing, but its key is set', idAdvice)
    if (!hasKey(kind) && has(`${kind}_key_id`))
      addIssue(`${kind}_key_id`, 'is set without its key', fileAdvice)
  }
  if (has('vendor_numbers') && !hasKey('connect') && !has('connect_key_id')) {
    const advice = 'Run `windfall connect`, or write connect_key_id and connect_key_file.'
    addIssue('vendor_numbers', 'are set without the App Store Connect key that fetches their reports', advice)
  }
  if (!hasKey('purchase') || has('issuer_id') || has('purchase_issuer_id')) return
  const advice =
    'Write issuer_id = "69a6de70-03db-47e3-e053-5b8c7c11a4d1"; App Store Connect shows it above the list of keys.'
  addIssue('issuer_id', 'is missing, and an In-App Purchase key requires it', advice)
}
