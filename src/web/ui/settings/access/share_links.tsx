/** Settings, Guests: share links. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { LinkAnswer, LinksAnswer } from '../../../../api/owner/share_links.ts'
import { Icon } from '../../parts/icons.tsx'
import { Segments } from '../../parts/popover.tsx'
import { useQuery } from '../../queries.ts'
import { type CredentialKind, CredentialList } from './credential_list.tsx'

type Link = InferOutput<typeof LinkAnswer>
const PATH = '/api/v1/share-links'

const KIND: CredentialKind<Link> = {
  path: PATH,
  title: 'Share links',
  createLabel: 'New share link',
  hint: 'My accountant',
  icon: 'share',
  about: 'Anyone with a link sees the figures and charts of its apps, but no customers, events or settings.',
  empty: 'No share links',
  revokeText: 'Anyone using this link loses access immediately.',
  secretOf: (made) => (made as Link & { url: string }).url,
  secretTitle: 'New share link',
  secretNote: 'Copy it now: it is not shown again. You can create another at any time.',
  column: {
    title: 'Amounts',
    of: (link) => (
      <>
        {link.basis === 'gross' ? 'Gross' : 'Proceeds'}
        {link.has_passcode && (
          <span class="badge">
            <Icon name="lock" /> Passcode
          </span>
        )}
      </>
    ),
  },
  used: { title: 'Last opened', at: (link) => link.opened_at },
}

const BASES = [
  { value: 'gross', title: 'Gross' },
  { value: 'proceeds', title: 'Proceeds' },
] as const

export function Guests(): JSX.Element {
  const [basis, setBasis] = useState<Link['basis']>('gross')
  const [passcode, setPasscode] = useState('')
  const result = useQuery<InferOutput<typeof LinksAnswer>>(PATH)
  return (
    <CredentialList
      kind={KIND}
      result={{ ...result, data: result.data?.share_links }}
      body={{ basis, passcode: passcode === '' ? null : passcode }}
      additionalFields={
        <>
          <div class="field">
            <span>Amounts</span>
            <Segments title="Amounts" value={basis} choices={BASES} onPick={setBasis} />
          </div>
          <label class="field">
            <span>Passcode (optional)</span>
            <input
              class="input"
              autocomplete="off"
              minLength={6}
              value={passcode}
              onInput={(event) => setPasscode(event.currentTarget.value)}
            />
          </label>
        </>
      }
    />
  )
}
