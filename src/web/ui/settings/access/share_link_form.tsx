/** The form of a share link: amounts, metrics and passcode. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { LinkAnswer } from '../../../../api/owner/share_links.ts'
import { Icon } from '../../parts/icons.tsx'
import { Segments } from '../../parts/popover.tsx'
import { count } from '../../words.ts'
import type { CredentialKind } from './credential_list.tsx'
import { MetricChoice, useDerivable, useKnownIn, useTitles } from './metric_choice.tsx'

type Link = InferOutput<typeof LinkAnswer>
export const LINKS_PATH = '/api/v1/share-links'

const BASES = [
  { value: 'gross', title: 'Gross' },
  { value: 'proceeds', title: 'Proceeds' },
] as const

/** How many metrics of a link the table names. */
const MAX_NAMED = 2

function SharedNames({ metrics }: { metrics: readonly string[] }): JSX.Element {
  const titles = useTitles(metrics)
  return (
    <div class="tiny quiet" title={titles.join(', ')}>
      {titles.length > MAX_NAMED ? `${count(titles.length)} metrics` : titles.join(', ')}
    </div>
  )
}

/** The fields of a new link. `initial`: the metrics chosen at first; null for all. */
function useLinkFields(initial: readonly string[] | null) {
  const [basis, setBasis] = useState<Link['basis']>('gross')
  const [passcode, setPasscode] = useState('')
  const [chosen, setChosen] = useState(initial)
  const metrics = useKnownIn(chosen, basis)
  const derivable = useDerivable(metrics, basis)
  const fields = (
    <>
      <div class="field">
        <span>Amounts</span>
        <Segments title="Amounts" value={basis} choices={BASES} onPick={setBasis} />
      </div>
      <MetricChoice value={chosen} basis={basis} onChange={setChosen} />
      {derivable.note}
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
  )
  const body = { basis, metrics, passcode: passcode === '' ? null : passcode }
  return { fields, body, isReady: derivable.isReady }
}

const useAllMetrics = () => useLinkFields(null)

export const LINK_KIND: CredentialKind<Link> = {
  path: LINKS_PATH,
  title: 'Share links',
  createLabel: 'New share link',
  submitLabel: 'Create link',
  hint: 'My accountant',
  icon: 'share',
  about:
    'Anyone with a link sees the figures and charts of its apps, or those of some metrics, but no customers, events or settings.',
  empty: 'No share links',
  revokeText: 'Anyone using this link loses access immediately.',
  secretOf: (made) => (made as Link & { url: string }).url,
  secretTitle: 'New share link',
  secretNote: 'Copy it now: it is not shown again. You can create another at any time.',
  column: {
    title: 'Shows',
    of: (link) => (
      <>
        {link.basis === 'gross' ? 'Gross' : 'Proceeds'}
        {link.has_passcode && (
          <span class="badge">
            <Icon name="lock" /> Passcode
          </span>
        )}
        {link.metrics && <SharedNames metrics={link.metrics} />}
      </>
    ),
  },
  used: { title: 'Last opened', at: (link) => link.opened_at },
  useFields: useAllMetrics,
}

/** The kind whose form begins with these metrics; null for all. */
export const linkKindOf = (metrics: readonly string[] | null): CredentialKind<Link> => ({
  ...LINK_KIND,
  useFields: () => useLinkFields(metrics),
})
