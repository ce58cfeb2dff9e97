/** What to do with a new widget: the script, a QR code, and what other programs need. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Copy, CopyButton } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { problemFrom } from '../../queries.ts'
import { Qr } from '../access/qr.tsx'
import { useSettings } from '../settings_queries.ts'
import { type CreatedWidget, useWidgets, type Widget } from './widget_queries.ts'

/** The script for Scriptable, which the server makes. */
function useScript(address: string): { script: string | null; problem: string | null } {
  const [script, setScript] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    fetch(address, { credentials: 'omit' })
      .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(`status ${answer.status}`))))
      .then(setScript, (error: unknown) => setProblem(problemFrom(error).message))
  }, [address])
  return { script, problem }
}

/** The titles of the figures, by name. */
type Titles = ReadonlyMap<string, string>

const homeAssistantFor = (base: string, token: string, { metrics }: Widget, titles: Titles): string =>
  [
    'rest:',
    `  - resource: ${base}/widget/v1.json`,
    '    scan_interval: 300',
    '    headers:',
    `      Authorization: Bearer ${token}`,
    '    sensor:',
    ...metrics.flatMap((name) => [
      `      - name: Windfall ${titles.get(name) ?? name}`,
      `        unique_id: windfall_${name}`,
      `        value_template: "{{ value_json.${name} }}"`,
    ]),
  ].join('\n')

type GuideProps = { created: CreatedWidget; onClose: () => void }

/** Without a public address, the phone calls itself. */
const OnlyHere = ({ base }: { base: string }): JSX.Element | null =>
  /^(localhost|127\.|\[::1\])/.test(new URL(base).hostname) ? (
    <p class="notice warn">
      Only this machine reaches {base}. For a phone, put Windfall behind a proxy with https and set{' '}
      <code>base_url</code> first.
    </p>
  ) : null

function Steps({ created: { widget, token } }: { created: CreatedWidget }): JSX.Element {
  const base = useSettings().data?.base_url ?? location.origin
  const titles: Titles = new Map(useWidgets().data?.metrics.map(({ name, title }) => [name, title]))
  const path = `/widget/v1/${token}`
  const { script, problem } = useScript(`${path}.js`)
  const [first = 'mrr'] = widget.metrics
  return (
    <div class="stack">
      <p class="small quiet">
        The token is not shown again: copy what you need now. With it, these figures can be read and nothing
        else.
      </p>
      <OnlyHere base={base} />
      <h3>iPhone and iPad: Scriptable</h3>
      <div class="row qr-row">
        <Qr text={`${base}${path}.js`} label="QR code of the script’s address" />
        <ol class="small">
          <li>Install the app Scriptable.</li>
          <li>
            Scan this code with the camera, and copy the text of the page that opens. On the iPhone itself,
            copy <em>The script</em> below.
          </li>
          <li>In Scriptable, tap + and paste it. Tap ▶ to see the widget.</li>
          <li>Add a Scriptable widget to the Home Screen or the lock screen, and choose the script.</li>
        </ol>
      </div>
      <ErrorMessage message={problem} />
      {script !== null && (
        <details>
          <summary class="small">The script</summary>
          <Scroll label="The script" class="details-body script">
            <pre>{script}</pre>
          </Scroll>
          <CopyButton label="the script" text={script} />
        </details>
      )}
      <h3>Shortcuts</h3>
      <p class="small">
        Add <em>Get Contents of URL</em> with this URL, then <em>Show Notification</em> or <em>Speak</em>.
      </p>
      <Copy label="the URL for Shortcuts" text={`${base}${path}.txt?metrics=${first}`} />
      <h3>Home Assistant</h3>
      <Copy isBlock label="the sensor" text={homeAssistantFor(base, token, widget, titles)} />
      <h3>Other programs</h3>
      <p class="small">
        JSON with the token in a header, or in the path for programs such as KWGT; <code>.svg</code> is a
        picture.
      </p>
      <Copy
        isBlock
        label="the call"
        text={`curl -H 'Authorization: Bearer ${token}' \\\n  ${base}/widget/v1.json`}
      />
      <Copy label="the URL of the JSON" text={`${base}${path}.json`} />
    </div>
  )
}

/** The Markdown of a badge. */
export function BadgeMarkdown({ widget }: { widget: Widget }): JSX.Element {
  const base = useSettings().data?.base_url ?? location.origin
  const path = `/badge/v1/${widget.token}.svg`
  return (
    <div class="stack-s">
      <img src={path} alt={widget.label} height="20" />
      <Copy label="the Markdown" text={`![${widget.label}](${base}${path})`} />
    </div>
  )
}

export const WidgetGuide = ({ created, onClose }: GuideProps): JSX.Element => (
  <Dialog title={created.widget.label} isWide onClose={onClose}>
    {created.widget.kind === 'badge' ? (
      <BadgeMarkdown widget={created.widget} />
    ) : (
      <Steps created={created} />
    )}
    <div class="sheet-foot">
      <button type="button" class="button main" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
)
