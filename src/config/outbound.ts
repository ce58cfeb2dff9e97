/** Settings of requests to addresses that a person entered: webhooks and alerts. */
import * as v from 'valibot'
import { optionalSetting, setting } from './setting.ts'
import * as is from './values.ts'

export const outbound = {
  allow: setting(v.array(is.allowedNetwork), [], {
    reason:
      'Networks that are not public but may receive requests, such as a backend on this machine. An entry also permits http. With a port, it permits this port only; an IPv6 network with a port is in brackets. The metadata address of a cloud provider needs an entry of its own.',
    write: 'a list of addresses and networks in CIDR form, each optionally with a port',
    example: '["127.0.0.1/32", "10.0.0.0/8:8080", "[fd00::/8]:8080"]',
  }),
  ca_file: optionalSetting(is.filePath, {
    reason:
      'Certificates of a private certificate authority in PEM form, trusted in addition to the built-in ones.',
    write: 'the path of a file',
    example: '"private-ca.pem"',
  }),
}
