/** Settings of App Attest. */
import * as v from 'valibot'
import { setting } from './setting.ts'
import * as is from './values.ts'

export const attest = {
  accept: setting(v.array(is.oneOf(['production', 'development'])), ['production'], {
    reason:
      'The kinds of devices that can enrol. Builds of the App Store and TestFlight are production; builds that Xcode runs are development. A device of development never proves a purchase in production.',
    write: 'a list of production and development',
  }),
  assertions: setting(is.oneOf(['off', 'when_sent', 'required']), 'when_sent', {
    reason:
      'Assertions sign single calls with the key of the device. when_sent refuses a wrong one, required refuses calls of devices without one, off ignores them.',
    write: 'off, when_sent or required',
  }),
}
