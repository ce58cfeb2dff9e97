/** The menu of date ranges: presets, typed days and a calendar; and the menu of what figures are compared with. */
import type { JSX } from 'preact'
import { latePart } from '../loading/late.tsx'
import { useOverview } from '../overview.ts'
import { Pick, PickLabel, Popover } from '../parts/popover.tsx'
import { type Days, MAX_DAYS_BACK, RANGE_GROUPS, RANGE_TITLES } from '../ranges.ts'
import { daysOf, type Scope } from '../scope.ts'
import { day, plusDays } from '../words.ts'
import { COMPARISONS } from './scope_choices.ts'

const Calendar = latePart('The calendar', () => import('./calendar.tsx').then((module) => module.Calendar))

type PickerProps = { scope: Scope; change: (changes: Partial<Scope>) => void }

const spanText = ({ from, to }: Days): string => (from === to ? day(from) : `${day(from)} – ${day(to)}`)

export function RangePick({ scope, change }: PickerProps): JSX.Element {
  const today = useOverview(scope).overview?.today_on
  const days = today === undefined ? null : daysOf(scope, today, null)
  const title = scope.range === 'custom' && days ? spanText(days) : RANGE_TITLES[scope.range]
  return (
    <Popover
      buttonClass="pick"
      class="menu ranges"
      label={
        <PickLabel title="Date range" icon="calendar">
          {title}
        </PickLabel>
      }
    >
      {(close) => (
        <>
          <Presets scope={scope} change={change} close={close} />
          {today && days && <CustomRange {...days} today={today} change={change} close={close} />}
        </>
      )}
    </Popover>
  )
}

const Presets = ({ scope, change, close }: PickerProps & { close: () => void }): JSX.Element => (
  <fieldset class="plain-set">
    <legend class="group">Date range</legend>
    {RANGE_GROUPS.map((group) => (
      <div key={group[0]} class="range-group">
        {group.map((range) => (
          <label key={range}>
            <input
              type="radio"
              name="range"
              checked={scope.range === range}
              onClick={() => {
                close()
                change({ range })
              }}
            />
            {RANGE_TITLES[range]}
          </label>
        ))}
      </div>
    ))}
  </fieldset>
)

type CustomRangeProps = Days & { today: string; change: PickerProps['change']; close: () => void }

function CustomRange({ from, to, today, change, close }: CustomRangeProps): JSX.Element {
  const min = plusDays(today, -MAX_DAYS_BACK)
  const setDay = (which: 'from' | 'to') => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement
    if (value !== '') change({ range: 'custom', from, to, [which]: value })
  }
  return (
    <fieldset class="plain-set">
      <legend class="group">{RANGE_TITLES.custom}</legend>
      <div class="typed-days">
        <label>
          From
          <input class="input slim" type="date" value={from} max={to} min={min} onChange={setDay('from')} />
        </label>
        <label>
          To
          <input class="input slim" type="date" value={to} min={from} max={today} onChange={setDay('to')} />
        </label>
      </div>
      <Calendar
        from={from}
        to={to}
        min={min}
        max={today}
        onPick={(days) => {
          close()
          change({ range: 'custom', ...days })
        }}
      />
    </fieldset>
  )
}

export const ComparePick = ({ scope, change }: PickerProps): JSX.Element => (
  <Pick
    title="Compare with"
    value={scope.compare}
    choices={COMPARISONS}
    onPick={(compare) => change({ compare })}
  />
)
