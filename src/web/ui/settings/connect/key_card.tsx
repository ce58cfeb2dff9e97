/** One of Apple's keys: its state, and the form that takes it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { keyIdInName } from '../../../../apps/key_file_name.ts'
import { Card } from '../../parts/card.tsx'
import { CodeProse } from '../../parts/code_prose.tsx'
import { Confirm, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Icon } from '../../parts/icons.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { useReauth } from '../../sign_in/reauth.tsx'
import { sentence } from '../../words.ts'
import { KeyState } from '../apps.tsx'
import { type AppleKey, deleteKey, type KeyKind, storeKey } from './connect_queries.ts'
import { DropKey, type DroppedKey } from './drop_key.tsx'

type KeyWords = { title: string; purpose: string; steps: string[]; example: string; issuer: string }

const WORDS: Record<KeyKind, KeyWords> = {
  connect: {
    title: 'App Store Connect API key',
    purpose: 'Lists your apps and products and fetches the daily reports.',
    steps: [
      'In App Store Connect, open Users and Access, Integrations, App Store Connect API, Team Keys.',
      'Press +. Enter the name Windfall and choose the access Finance.',
      'Press Generate, then Download. Copy the Issuer ID above the list.',
    ],
    example: 'AuthKey_….p8',
    issuer: 'Above the list of keys; empty for an individual key',
  },
  purchases: {
    title: 'In-App Purchase key',
    purpose: 'Reads the history of purchases and finds missing notifications.',
    steps: [
      'In App Store Connect, open Users and Access, Integrations, In-App Purchase.',
      'Press + and enter the name Windfall.',
      'Press Generate, then Download.',
    ],
    example: 'SubscriptionKey_….p8',
    issuer: 'Above the list of keys',
  },
}

const Steps = ({ steps }: { steps: string[] }): JSX.Element => (
  <ol class="steps small">
    {steps.map((step) => (
      <li key={step}>{step}</li>
    ))}
  </ol>
)

const Submit = ({ isBusy, isReady }: { isBusy: boolean; isReady: boolean }): JSX.Element => (
  <div class="row">
    <button type="submit" class="button main" disabled={isBusy || !isReady}>
      {isBusy ? 'Trying it with Apple' : 'Try and store'}
    </button>
    {isBusy && <progress aria-label="Trying the key with Apple" />}
  </div>
)

type FormProps = { current: AppleKey; issuer: string | null; onStored: () => void }

function KeyForm({ current, issuer, onStored }: FormProps): JSX.Element {
  const { kind, organization_id } = current
  const words = WORDS[kind]
  const withReauth = useReauth()
  const [dropped, setDropped] = useState<DroppedKey | null>(null)
  const [keyId, setKeyId] = useState('')
  const [issuerId, setIssuerId] = useState<string | null>(null)
  const shownIssuer = issuerId ?? current.issuer_id ?? issuer ?? ''
  const { run, isBusy, failure } = useMutation(async () => {
    const draft = { private_key: dropped?.text ?? '', key_id: keyId, issuer_id: shownIssuer.trim() || null }
    await withReauth(() => storeKey(kind, organization_id, draft))
    onStored()
  })
  const errorAt = (path: string) => failure?.errors.find((one) => one.path === path)?.message
  const take = (key: DroppedKey | null): void => {
    setDropped(key)
    if (key) setKeyId(keyIdInName(key.name) ?? keyId)
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <Steps steps={words.steps} />
      <DropKey
        label={words.title}
        example={words.example}
        dropped={dropped}
        error={sentenceOf(errorAt('private_key'))}
        onKey={take}
      />
      {dropped && (
        <>
          <TextField
            label="Key ID"
            hint="In the name of the file"
            value={keyId}
            error={sentenceOf(errorAt('key_id'))}
            onInput={setKeyId}
          />
          <TextField
            label="Issuer ID"
            hint={words.issuer}
            value={shownIssuer}
            error={sentenceOf(errorAt('issuer_id'))}
            onInput={setIssuerId}
          />
        </>
      )}
      <ErrorMessage message={failure && failure.errors.length === 0 ? failure.message : null} />
      <Submit isBusy={isBusy} isReady={dropped !== null} />
    </form>
  )
}

const sentenceOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : sentence(text)

function Stored({ current, onReplace }: { current: AppleKey; onReplace: () => void }): JSX.Element {
  const [isDeleting, setDeleting] = useState(false)
  const { kind, organization_id, source } = current
  return (
    <div class="stack-s">
      <dl class="facts">
        <dt>State</dt>
        <dd>
          {current.state === 'unreadable' ? (
            <>
              <span class="badge bad">Cannot be opened</span>
              <p class="tiny quiet">It was sealed with another windfall.key. Enter it again.</p>
            </>
          ) : (
            <KeyState state={{ state: current.state, why: current.why }} />
          )}
        </dd>
        {current.key_id && (
          <>
            <dt>Key ID</dt>
            <dd>
              <code>{current.key_id}</code>
            </dd>
          </>
        )}
      </dl>
      {source === 'config' ? (
        <p class="small quiet">
          <CodeProse text="This key is in the configuration, which takes precedence. Change it there, or run `windfall connect`." />
        </p>
      ) : (
        <div class="row">
          <button type="button" class="button" onClick={onReplace}>
            <Icon name="refresh" /> Replace
            <span class="spoken"> the {WORDS[kind].title}</span>
          </button>
          <button type="button" class="button" onClick={() => setDeleting(true)}>
            <Icon name="trash" /> Delete
            <span class="spoken"> the {WORDS[kind].title}</span>
          </button>
        </div>
      )}
      {isDeleting && (
        <Confirm
          title={`Delete the ${WORDS[kind].title}?`}
          verb="Delete"
          action={() => deleteKey(kind, organization_id)}
          onClose={() => setDeleting(false)}
        >
          <p>Windfall stops asking Apple with it. Your data and the notifications stay.</p>
        </Confirm>
      )}
    </div>
  )
}

/** `issuer` is the issuer id of the other key, which is usually the same. */
export function KeyCard({ current, issuer }: { current: AppleKey; issuer: string | null }): JSX.Element {
  const [isReplacing, setReplacing] = useState(false)
  const { title, purpose } = WORDS[current.kind]
  const hasForm = current.source === 'none' || (isReplacing && current.source === 'dashboard')
  return (
    <Card title={title} foot={purpose}>
      {hasForm ? (
        <KeyForm current={current} issuer={issuer} onStored={() => setReplacing(false)} />
      ) : (
        <Stored current={current} onReplace={() => setReplacing(true)} />
      )}
    </Card>
  )
}
