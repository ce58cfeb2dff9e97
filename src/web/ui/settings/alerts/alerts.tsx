/** Settings, Alerts: channels, rules, the time zone, quiet hours and the history of messages. */
import type { JSX } from 'preact'
import { Channels } from './channels/channels.tsx'
import { DigestTimes } from './digest_times.tsx'
import { MessageLog } from './message_log.tsx'
import { Rules } from './rules/rules.tsx'
import { Silence } from './silence.tsx'
import { TimeZones } from './time_zone.tsx'

export const Alerts = (): JSX.Element => (
  <>
    <Channels />
    <TimeZones />
    <Silence />
    <DigestTimes />
    <Rules />
    <MessageLog />
  </>
)
