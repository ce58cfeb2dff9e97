/** A calendar in which a viewer chooses the first and the last day of a range. */
import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { dayNumber, dayText, weekOf } from '../../../metrics/lineage/calendar.ts'
import { Icon } from '../parts/icons.tsx'
import type { Days } from '../ranges.ts'
import { longDay, month as monthTitle, plusDays } from '../words.ts'

const WEEKDAYS = [
  ['Mon', 'Monday'],
  ['Tue', 'Tuesday'],
  ['Wed', 'Wednesday'],
  ['Thu', 'Thursday'],
  ['Fri', 'Friday'],
  ['Sat', 'Saturday'],
  ['Sun', 'Sunday'],
] as const
const DAYS_BEFORE_MONDAY = 3

/** The Monday of a day's week. */
const mondayOf = (on: string): string => dayText(weekOf(dayNumber(on)) * 7 - DAYS_BEFORE_MONDAY)

/** The same day of another month, or its last day. */
function plusMonths(on: string, count: number): string {
  const [year = 0, month = 1, day = 1] = on.split('-').map(Number)
  const last = new Date(Date.UTC(year, month - 1 + count + 1, 0)).getUTCDate()
  return new Date(Date.UTC(year, month - 1 + count, Math.min(day, last))).toISOString().slice(0, 10)
}

/** The weeks that a day's month touches, each as seven days. */
function weeksOf(on: string): string[][] {
  const first = `${on.slice(0, 7)}-01`
  const last = plusDays(plusMonths(first, 1), -1)
  const weeks: string[][] = []
  for (let monday = mondayOf(first); monday <= last; monday = plusDays(monday, 7))
    weeks.push(WEEKDAYS.map((_, index) => plusDays(monday, index)))
  return weeks
}

/** The day that a key moves to, as in the date picker of the ARIA patterns; null for other keys. */
function dayAfterKey({ key, shiftKey }: KeyboardEvent, on: string): string | null {
  const moves: Record<string, () => string> = {
    ArrowLeft: () => plusDays(on, -1),
    ArrowRight: () => plusDays(on, 1),
    ArrowUp: () => plusDays(on, -7),
    ArrowDown: () => plusDays(on, 7),
    Home: () => mondayOf(on),
    End: () => plusDays(mondayOf(on), 6),
    PageUp: () => plusMonths(on, shiftKey ? -12 : -1),
    PageDown: () => plusMonths(on, shiftKey ? 12 : 1),
  }
  return moves[key]?.() ?? null
}

type CalendarProps = Days & {
  /** The first and the last day that can be chosen. */
  min: string
  max: string
  onPick: (days: Days) => void
}

const clamped = (on: string, min: string, max: string): string => (on < min ? min : on > max ? max : on)

/**
 * The current day, which has the focus, and the first chosen day. The first chosen day is one end of the range, the second
 * one the other end.
 */
function useDays({ to, min, max, onPick }: CalendarProps) {
  const [current, setCurrent] = useState(to)
  const [start, setStart] = useState<string | null>(null)
  const grid = useRef<HTMLTableElement>(null)
  const hasMoved = useRef(false)
  // Before the next key is handled, so that it acts on the day with the focus.
  useLayoutEffect(() => {
    if (hasMoved.current) grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
    hasMoved.current = false
  }, [current])
  const pick = (on: string): void => {
    setCurrent(on)
    if (start === null) setStart(on)
    else onPick(on < start ? { from: on, to: start } : { from: start, to: on })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = dayAfterKey(event, current)
    if (next === null) return
    event.preventDefault()
    hasMoved.current = true
    setCurrent(clamped(next, min, max))
  }
  const turn = (months: number): void => setCurrent(clamped(plusMonths(current, months), min, max))
  return { current, start, grid, pick, onKeyDown, turn }
}

export function Calendar(props: CalendarProps): JSX.Element {
  const { from, to, min, max } = props
  const { current, start, grid, pick, onKeyDown, turn } = useDays(props)
  const [firstShown, lastShown] = start === null ? [from, to] : [start, start]
  return (
    <div class="calendar">
      <MonthHead current={current} min={min} max={max} onTurn={turn} />
      <table ref={grid} aria-label={monthTitle(current)} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {WEEKDAYS.map(([short, long]) => (
              <th key={short} scope="col" abbr={long}>
                {short}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(current).map(([monday = '', ...others]) => (
            <tr key={monday}>
              {[monday, ...others].map((on) => (
                <td key={on} class={on >= firstShown && on <= lastShown ? 'within' : undefined}>
                  <button
                    type="button"
                    tabIndex={on === current ? 0 : -1}
                    aria-pressed={on === firstShown || on === lastShown}
                    aria-label={longDay(on)}
                    disabled={on < min || on > max}
                    class={on.slice(0, 7) === current.slice(0, 7) ? undefined : 'other-month'}
                    onClick={() => pick(on)}
                  >
                    {Number(on.slice(8))}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="menu-note" role="status">
        {start === null ? 'Choose the first day.' : `From ${longDay(start)}. Choose the last day.`}
      </p>
    </div>
  )
}

type MonthHeadProps = { current: string; min: string; max: string; onTurn: (months: number) => void }

const MonthHead = ({ current, min, max, onTurn }: MonthHeadProps): JSX.Element => (
  <div class="spread">
    <button
      type="button"
      class="button plain icon"
      aria-label="Previous month"
      disabled={current.slice(0, 7) <= min.slice(0, 7)}
      onClick={() => onTurn(-1)}
    >
      <Icon name="left" />
    </button>
    <strong aria-live="polite">{monthTitle(current)}</strong>
    <button
      type="button"
      class="button plain icon"
      aria-label="Next month"
      disabled={current.slice(0, 7) >= max.slice(0, 7)}
      onClick={() => onTurn(1)}
    >
      <Icon name="right" />
    </button>
  </div>
)
