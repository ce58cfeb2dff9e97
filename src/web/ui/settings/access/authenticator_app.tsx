/** Settings, Security: the authenticator app, whose code the sign-in needs in addition to the password. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type {
  RecoveryCodesAnswer,
  SecondFactorAnswer,
  SetupAnswer,
} from '../../../../api/owner/second_factor.ts'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Confirm, Dialog, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { invalidate, useQuery } from '../../queries.ts'
import { CodeField } from '../../sign_in/code_step.tsx'
import { useReauth } from '../../sign_in/reauth.tsx'
import { plural } from '../../words.ts'
import { Qr } from './qr.tsx'
import { RecoveryCodes } from './recovery_codes.tsx'

const PATH = '/api/v1/second-factor'
type Setup = InferOutput<typeof SetupAnswer>
type Codes = InferOutput<typeof RecoveryCodesAnswer>

/** The answers of the security page change with the second factor. */
const refresh = (): Promise<void> => invalidate(PATH, '/api/v1/sessions', '/api/v1/audit')

type SetupDialogProps = { setup: Setup; onDone: (codes: string[]) => void; onClose: () => void }

function SetupDialog({ setup, onDone, onClose }: SetupDialogProps): JSX.Element {
  const withReauth = useReauth()
  const [code, setCode] = useState('')
  const { run, isBusy, problem } = useMutation(async () => {
    const { recovery_codes } = await withReauth(() => write<Codes>('POST', PATH, { code }))
    await refresh()
    onDone(recovery_codes)
  })
  return (
    <Dialog title="Set up an authenticator app" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <div class="row qr-row">
          <Qr text={setup.uri} label="QR code for the authenticator app" />
          <ol class="small">
            <li>Scan this code with your authenticator app, or enter the key by hand.</li>
            <li>Enter the code of six digits that the app shows.</li>
          </ol>
        </div>
        <Copy text={setup.secret} label="the key" />
        <CodeField label="Code" value={code} onInput={setCode} />
        <ErrorMessage message={problem} />
        <p class="tiny quiet">Turning this on signs out all other browsers.</p>
        <div class="sheet-foot">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" disabled={isBusy}>
            Turn on
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function TurnedOff({ onSetup }: { onSetup: (setup: Setup) => void }): JSX.Element {
  const withReauth = useReauth()
  const { run, isBusy, problem } = useMutation(async () =>
    onSetup(await withReauth(() => write<Setup>('POST', `${PATH}/setup`))),
  )
  return (
    <div class="stack">
      <p class="small quiet">
        With an authenticator app on your phone, the password alone does not sign in: the sign-in also needs a
        code of the app.
      </p>
      <ErrorMessage message={problem} />
      <div>
        <button type="button" class="button main" disabled={isBusy} onClick={run}>
          Set up
        </button>
      </div>
    </div>
  )
}

type TurnedOnProps = { since: number; codesLeft: number; onRenew: () => void; onRemove: () => void }

const TurnedOn = ({ since, codesLeft, onRenew, onRemove }: TurnedOnProps): JSX.Element => (
  <div class="stack">
    <p class="small">
      <span class="badge good">On</span> Set up <RelativeTime at={since} />.
    </p>
    <p class={codesLeft < 3 ? 'notice warn' : 'small quiet'}>
      {codesLeft === 0
        ? 'No recovery code is left. Make new ones, so that you can sign in without your phone.'
        : `${plural(codesLeft, 'recovery code is', 'recovery codes are')} left.`}
    </p>
    <div class="row">
      <button type="button" class="button" onClick={onRenew}>
        New recovery codes
      </button>
      <button type="button" class="button danger" onClick={onRemove}>
        Remove
      </button>
    </div>
  </div>
)

type ChangeProps = { onClose: () => void }

function Remove({ onClose }: ChangeProps): JSX.Element {
  const withReauth = useReauth()
  return (
    <Confirm
      title="Remove the authenticator app"
      verb="Remove"
      onClose={onClose}
      action={async () => {
        await withReauth(() => write('DELETE', PATH))
        await refresh()
      }}
    >
      <p>
        The password alone signs in again. The recovery codes no longer work, and all other browsers are
        signed out.
      </p>
    </Confirm>
  )
}

function Renew({ onClose, onDone }: ChangeProps & { onDone: (codes: string[]) => void }): JSX.Element {
  const withReauth = useReauth()
  return (
    <Confirm
      title="New recovery codes"
      verb="Make new codes"
      isDanger={false}
      onClose={onClose}
      action={async () => {
        const { recovery_codes } = await withReauth(() => write<Codes>('POST', `${PATH}/recovery-codes`))
        await refresh()
        onDone(recovery_codes)
      }}
    >
      <p>The old recovery codes no longer work, and all other browsers are signed out.</p>
    </Confirm>
  )
}

export function AuthenticatorApp(): JSX.Element {
  const result = useQuery<InferOutput<typeof SecondFactorAnswer>>(PATH)
  const [setup, setSetup] = useState<Setup | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const [change, setChange] = useState<'renew' | 'remove' | null>(null)
  const endChange = (): void => setChange(null)
  return (
    <Card title="Two-factor sign-in (authenticator app)">
      <QueryView result={result} height={120}>
        {({ since, recovery_codes_left }) =>
          since === null ? (
            <TurnedOff onSetup={setSetup} />
          ) : (
            <TurnedOn
              since={since}
              codesLeft={recovery_codes_left}
              onRenew={() => setChange('renew')}
              onRemove={() => setChange('remove')}
            />
          )
        }
      </QueryView>
      {setup && (
        <SetupDialog
          setup={setup}
          onClose={() => setSetup(null)}
          onDone={(made) => {
            setSetup(null)
            setCodes(made)
          }}
        />
      )}
      {change === 'remove' && <Remove onClose={endChange} />}
      {change === 'renew' && <Renew onClose={endChange} onDone={setCodes} />}
      {codes && <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />}
    </Card>
  )
}
