/** One signed payload: content, JWS and certificate chain. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { EvidencePage } from '../../../api/customers/evidence_answers.ts'
import { Copy } from '../parts/copy.tsx'
import { Icon } from '../parts/icons.tsx'
import { Segments } from '../parts/popover.tsx'
import { date, instant } from '../words.ts'
import { Json } from './json.tsx'

export type EvidenceAnswer = InferOutput<typeof EvidencePage>
type Signed = EvidenceAnswer['evidence'][number]

const KINDS: Record<Signed['kind'], string> = {
  notification: 'Notification',
  transaction: 'Transaction',
  renewal: 'Renewal info',
}
const SOURCES: Record<Signed['source'], string> = {
  push: 'sent by Apple',
  pending: 'sent by Apple before the app was connected',
  device: 'sent by the app',
  history: 'from Apple’s notification history',
  transactions: 'from Apple’s transaction history',
  status: 'from Apple’s subscription statuses',
}
const TABS = [
  { value: 'payload', title: 'Content' },
  { value: 'text', title: 'Signed text' },
  { value: 'chain', title: 'Certificates' },
] as const

const titleOf = ({ kind, payload }: Signed): string => {
  const { notificationType: type, subtype } = payload
  return typeof type === 'string'
    ? [type, subtype].filter((word) => typeof word === 'string' && word !== '').join(' · ')
    : KINDS[kind]
}

export function SignedText({ signed, isOpen = false }: { signed: Signed; isOpen?: boolean }): JSX.Element {
  const [tab, setTab] = useState<(typeof TABS)[number]['value']>('payload')
  return (
    <details class="signed" open={isOpen}>
      <summary>
        <span class="signed-title">
          <strong>{titleOf(signed)}</strong>
          <span class="tiny quiet">
            {instant(signed.signed_at ?? signed.received_at)} · {SOURCES[signed.source]}
          </span>
        </span>
        {signed.root_trusted ? (
          <span class="badge good">
            <Icon name="verified" /> Apple root
          </span>
        ) : (
          <span class="badge bad">Other root</span>
        )}
      </summary>
      <div class="stack signed-body">
        <Segments title="View" value={tab} choices={TABS} onPick={setTab} />
        {tab === 'payload' && <Payload signed={signed} />}
        {tab === 'text' && <Text signed={signed} />}
        {tab === 'chain' && <Chain signed={signed} />}
      </div>
    </details>
  )
}

const Payload = ({ signed: { payload, nested } }: { signed: Signed }): JSX.Element => (
  <>
    {nested.map((inner) => (
      <div key={inner.sha256} class="stack-s">
        <h3>{inner.in}</h3>
        <Json value={inner.payload} label={inner.in} />
      </div>
    ))}
    <div class="stack-s">
      {nested.length > 0 && <h3>Envelope</h3>}
      <Json value={payload} label="Payload" />
    </div>
  </>
)

const Text = ({ signed: { jws, sha256 } }: { signed: Signed }): JSX.Element => (
  <>
    {jws === null ? (
      <p class="notice">
        <Icon name="info" />
        The signed text is not shown, because it contains the id of an erased user. The Content tab shows the
        payload without that id.
      </p>
    ) : (
      <Copy text={jws} label="signed text" />
    )}
    <dl class="facts">
      <dt>SHA-256</dt>
      <dd class="mono tiny">{sha256}</dd>
    </dl>
    <p class="small quiet">
      A JWS (RFC 7515) signed with ES256. Its header contains the certificates, so any JWS library can verify
      it.
    </p>
  </>
)

/** The common name in a certificate subject such as `CN=Apple Root CA - G3,OU=…`. */
const commonName = (subject: string): string => /CN ?= ?([^\n,+]+)/.exec(subject)?.[1] ?? subject

const CERTIFICATE_NAMES = ['signing certificate', 'intermediate certificate', 'root certificate']

const Chain = ({ signed: { chain, root_trusted } }: { signed: Signed }): JSX.Element => (
  <>
    <p class={`notice ${root_trusted ? 'good' : 'bad'}`}>
      <Icon name={root_trusted ? 'verified' : 'warning'} />
      {root_trusted
        ? 'The chain ends in Apple’s root certificate.'
        : 'The chain does not end in Apple’s root certificate.'}
    </p>
    <ol class="chain">
      {chain.map((one, index) => (
        <li key={one.sha256}>
          <strong>{commonName(one.subject)}</strong>
          <span class="small quiet">
            {index === chain.length - 1 ? CERTIFICATE_NAMES[2] : CERTIFICATE_NAMES[Math.min(index, 1)]} ·
            valid {date(one.not_before)} – {date(one.not_after)}
          </span>
          <span class="mono tiny quiet">SHA-256 {one.sha256}</span>
        </li>
      ))}
    </ol>
  </>
)
