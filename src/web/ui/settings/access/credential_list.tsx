/** What was given out and can be taken back: a list with a button to make one, as of links and tokens. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type Asked, renew } from '../../answers.ts'
import { write } from '../../http.ts'
import { useNow } from '../../now.ts'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog, useDeed } from '../../parts/dialog.tsx'
import { Heads } from '../../parts/heads.tsx'
import { Icon, type IconName } from '../../parts/icons.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { Wrong } from '../../parts/wrong.tsx'
import { useFresh } from '../../sign_in/fresh.tsx'
import { plural } from '../../words.ts'
import { Ending, isOver, NO_WISH, Reached, type Wish, WishFields, wished } from './grant_form.tsx'
import { ShownOnce } from './shown_once.tsx'

export type Given = {
  id: string
  label: string
  apps: string[] | null
  created_at: number
  expires_at: number | null
  revoked_at: number | null
}

/** The words for one kind of thing. */
export type Kind<One extends Given> = {
  path: string
  title: string
  make: string
  /** What a person may call one of them. */
  hint: string
  icon: IconName
  about: string
  empty: string
  revoking: string
  /** The secret of one that was just made. */
  secretOf: (made: One) => string
  secretTitle: string
  secretNote: string
  /** One column of its own. */
  column: { title: string; of: (one: One) => ComponentChildren }
  used: { title: string; at: (one: One) => number | null }
}

type MakeProps<One extends Given> = {
  kind: Kind<One>
  more: ComponentChildren
  body: object
  onMade: (made: One) => void
  onClose: () => void
}

function Make<One extends Given>({ kind, more, body, onMade, onClose }: MakeProps<One>): JSX.Element {
  const fresh = useFresh()
  const [wish, setWish] = useState<Wish>(NO_WISH)
  const { run, isBusy, problem } = useDeed(async () => {
    const made = await fresh(() => write<One>('POST', kind.path, { ...wished(wish), ...body }))
    await renew(kind.path)
    onMade(made)
  })
  return (
    <Dialog title={kind.make} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <WishFields wish={wish} change={(changes) => setWish({ ...wish, ...changes })} hint={kind.hint} />
        {more}
        <Wrong words={problem} />
        <button type="submit" class="button main" disabled={isBusy}>
          {kind.make}
        </button>
      </form>
    </Dialog>
  )
}

type TableProps<One extends Given> = { kind: Kind<One>; all: One[]; onRevoke: (one: One) => void }

function Table<One extends Given>({ kind, all, onRevoke }: TableProps<One>): JSX.Element {
  const now = useNow()
  return (
    <Scroll label={kind.title}>
      <table class="table">
        <Heads
          heads={[
            { title: 'Name' },
            { title: 'Reaches' },
            { title: kind.column.title },
            { title: 'Until' },
            { title: kind.used.title },
            { title: <span class="spoken">Revoke</span> },
          ]}
        />
        <tbody>
          {all.map((one) => (
            <tr key={one.id} class={isOver(one, now) ? 'is-over' : ''}>
              <th scope="row">
                <strong class="ink">{one.label}</strong>
                <div class="tiny quiet">
                  made <When at={one.created_at} />
                </div>
              </th>
              <td>
                <Reached apps={one.apps} />
              </td>
              <td>{kind.column.of(one)}</td>
              <td class="nowrap">
                <Ending of={one} now={now} />
              </td>
              <td class="nowrap">
                <When at={kind.used.at(one)} never="Never" />
              </td>
              <td class="number">
                {!isOver(one, now) && (
                  <button type="button" class="button plain danger" onClick={() => onRevoke(one)}>
                    Revoke<span class="spoken"> {one.label}</span>
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

type GivenOutProps<One extends Given> = {
  kind: Kind<One>
  asked: Asked<One[]>
  /** More fields of the form, and what they say. */
  more?: ComponentChildren
  body?: object
}

export function GivenOut<One extends Given>({
  kind,
  asked,
  more,
  body = {},
}: GivenOutProps<One>): JSX.Element {
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<One | null>(null)
  const [revoking, revoke] = useState<One | null>(null)
  const [isWhole, setWhole] = useState(false)
  const now = useNow()
  return (
    <Card
      title={kind.title}
      tools={
        <button type="button" class="button" onClick={() => setMaking(true)}>
          <Icon name="plus" /> {kind.make}
        </button>
      }
    >
      <p class="small quiet">{kind.about}</p>
      <Loaded asked={asked} height={160}>
        {(all) => {
          const shown = isWhole ? all : all.filter((one) => !isOver(one, now))
          return (
            <>
              {shown.length === 0 && <Empty icon={kind.icon} title={kind.empty} />}
              {shown.length > 0 && <Table kind={kind} all={shown} onRevoke={revoke} />}
              {shown.length < all.length && (
                <button type="button" class="button plain" onClick={() => setWhole(true)}>
                  Show {plural(all.length - shown.length, 'ended one')}
                </button>
              )}
            </>
          )
        }}
      </Loaded>
      {isMaking && (
        <Make
          kind={kind}
          more={more}
          body={body}
          onClose={() => setMaking(false)}
          onMade={(one) => {
            setMaking(false)
            setMade(one)
          }}
        />
      )}
      {made && (
        <ShownOnce
          title={kind.secretTitle}
          text={kind.secretOf(made)}
          label={kind.secretTitle}
          note={kind.secretNote}
          onClose={() => setMade(null)}
        />
      )}
      {revoking && (
        <Confirm
          title={`Revoke “${revoking.label}”`}
          verb="Revoke"
          onClose={() => revoke(null)}
          deed={async () => {
            await write('DELETE', `${kind.path}/${revoking.id}`)
            await renew(kind.path)
          }}
        >
          <p>{kind.revoking}</p>
        </Confirm>
      )}
    </Card>
  )
}
