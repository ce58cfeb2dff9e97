/** Checks settings of an endpoint that are valid on their own but contradict each other. */
import type { RawConfig } from '../raw_config.ts'
import type { Path } from './issues.ts'

/** Reports that the endpoint at `above` has no secret, or filters that its kind does not have. */
export function checkEndpoint(raw: RawConfig, above: Path): void {
  const written = (key: string): unknown => raw.get([...above, key])
  const secrets = written('secrets')
  if (written('secret_file') === undefined && (secrets === undefined || isEmptyList(secrets))) {
    const problem = secrets === undefined ? 'are missing' : 'are empty'
    const advice =
      'Write secret_file = "keys/webhook_secret", a file with whsec_ followed by 24 to 64 bytes in base64.'
    raw.addIssue([...above, 'secrets'], problem, advice)
  }
  if (written('kind') !== 'apple') return
  const unfiltered = 'Remove it: an endpoint with kind = "apple" receives every notification of its apps.'
  if (written('types') !== undefined)
    raw.addIssue([...above, 'types'], 'are set, but an endpoint of this kind has no event types', unfiltered)
  if (written('ordered') === true)
    raw.addIssue([...above, 'ordered'], "is true, but Apple's notifications have no order", 'Remove it.')
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0
