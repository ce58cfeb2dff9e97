/** Settings of scheduled backups, and of their copies on another machine. */
import * as v from 'valibot'
import { optionalSetting, setting } from '../setting.ts'
import * as is from '../values.ts'
import { accessKeyId, bucketUrl, endpoint, region, secretAccessKey } from './bucket.ts'

export const backup = {
  schedule: setting(is.schedule, 'off', {
    reason: 'When a backup is created: a cron pattern of five fields in UTC, such as "30 3 * * *", or "off".',
    write: 'a cron pattern of five fields, or "off"',
  }),
  folder: setting(is.filePath, './backups', {
    reason:
      'The folder for scheduled backups, relative to the folder of the config file. Copy them to another machine: a disk failure destroys both the database and its backups.',
    write: 'the path of a folder',
  }),
  recipients: setting(v.array(is.ageRecipient), [], {
    reason:
      'The age public keys that backups are encrypted for, as `age-keygen` prints them. Keep the identities that decrypt them on your own machine. Without recipients, backups are not encrypted, and they contain your keys.',
    write: 'a list of age recipients',
  }),
  command: setting(v.array(v.pipe(v.string(), v.nonEmpty())), [], {
    reason:
      'A program with its arguments that copies each scheduled backup to another machine, once it is verified. {file} stands for the path of the backup. It runs as the user of the server, for at most an hour. Requires recipients.',
    write: 'a program and its arguments, with {file} for the backup',
    example: '["rclone", "copy", "{file}", "offsite:windfall"]',
  }),
  to: optionalSetting(bucketUrl, {
    reason:
      'The bucket of S3, or of a service that speaks the same protocol, to which each scheduled backup is uploaded once it is verified: s3://, the name of the bucket, and a prefix that only this server uses. What expires here expires there. Requires recipients and a key.',
    write: 's3:// and a bucket, optionally with a prefix',
    example: '"s3://example-backups/windfall"',
  }),
  endpoint: {
    ...optionalSetting(endpoint, {
      reason:
        'The address of the service of the bucket. A private address, or one without https, also needs a line in [outbound] allow.',
      write: 'https:// and a host',
      example: '"https://s3.eu-central-1.amazonaws.com"',
    }),
    otherwise: 'that of Amazon S3 in the region',
  },
  region: setting(region, 'us-east-1', {
    reason: 'The region of the bucket. Services without regions accept any, some only "auto".',
    write: 'the name of a region, such as "eu-central-1"',
  }),
  access_key_id: optionalSetting(accessKeyId, {
    reason:
      'The id of the key for the bucket. The key must be able to list the bucket, and to read, write and delete objects under the prefix.',
    write: 'the id of an access key',
    example: '"AKIAIOSFODNN7EXAMPLE"',
  }),
  secret_access_key: optionalSetting(secretAccessKey, {
    reason:
      'The secret of the key. Prefer secret_access_key_file. A config file that other users of the machine can read must not contain it.',
    write: 'the secret access key',
    example: '"…"',
    secret: true,
  }),
  secret_access_key_file: optionalSetting(is.filePath, {
    reason: 'Instead of secret_access_key: a file that contains it, readable only by its owner (chmod 600).',
    write: 'the path of a file',
    example: '"/etc/windfall/secret_access_key"',
  }),
  daily: setting(is.wholeNumber(0, 366), 7, {
    reason: 'The number of days whose newest backup is kept.',
    write: 'a whole number from 0 to 366',
  }),
  weekly: setting(is.wholeNumber(0, 520), 4, {
    reason: 'The number of weeks whose newest backup is kept.',
    write: 'a whole number from 0 to 520',
  }),
  monthly: setting(is.wholeNumber(0, 120), 12, {
    reason: 'The number of months whose newest backup is kept. The newest backup is never deleted.',
    write: 'a whole number from 0 to 120',
  }),
}
