/** What the help of each command says in a paragraph, by the words of the command. */
export const ABOUT: Readonly<Record<string, string>> = {
  serve:
    'Serves the dashboard, the API and the URL for Apple’s notifications, and runs the scheduled jobs, until SIGINT or SIGTERM. SIGHUP reads the configuration again. The first start creates the database and prints a link to choose the owner’s password; a systemd service prints none, and `windfall owner reset` does.',
  reload:
    'Says which settings changed at once and which need a restart. An invalid configuration is refused with every problem, and the previous one stays in effect. `systemctl reload windfall` runs this command. SIGHUP does the same, and writes the outcome to the log.',
  demo: 'Simulates a company with its own App Store in a temporary database, and continues live: purchases, lost notifications, a backend that fails now and then. The data is deleted when the command ends.',
  health:
    'Asks /readyz of the running server: whether it is up, the database can be written, and Apple’s root certificate is valid. It prints the reasons if the server is not ready, or if it is ready and an error has stopped alerts or webhooks. For service managers, containers without curl, and scripts that wait for a start.',
  install:
    'Run as root. Creates the user and the folders, copies the executable and SQLite’s addon, writes a systemd unit and a first configuration, and starts the service. A second run changes nothing that is in place.',
  upgrade:
    'Run as root. Checks the new executable, backs up the database, rehearses the migration on a copy, then switches and waits until the server is ready. If the new version does not start, the old one serves again. Nothing is restored over writes that were acknowledged.',
  uninstall:
    'Run as root. Stops the service and removes the unit, the executable and the addon. The configuration and the data stay; the output lists where they are.',
  init: 'The file lists all settings with their descriptions and has the same effect as no file until you change it. Only you can read it, because it may hold secrets.',
  check:
    'Reads the configuration as the server does: the file, the variables WINDFALL_…, the key files. It reports faults with their lines and what to write instead: first those of the text, then unknown event types, channels and rules, then conflicts with an existing database. It lists the settings that differ from their defaults.',
  'config dump':
    'Prints the configuration in effect. The source of a value is the line of the file, the environment variable, a secret file, or the default. Secrets are not shown, only whether they are set.',
  connect:
    'Asks for the App Store Connect API key, the vendor number and the In-App Purchase key, tests each with Apple, and stores them in keys/ with their paths in config.toml. A running server uses them at once. Each answer is also an option, so that a script can run the command without questions.',
  doctor:
    'Checks the configuration, the server, the database, the disk, Apple’s APIs and keys, the notifications, the jobs and the backups. Each fault comes with its remedy. It changes nothing and needs no running server.',
  support:
    'Runs the checks of windfall doctor and writes them to a tar file, with versions, settings without secrets, the number of rows of each table, job runs and findings. The file contains no secret, key, token, user id or attribute, and nothing is sent.',
  'apps add':
    'Connects an app, so that its notifications are stored and its users can be identified. Notifications that waited for the app are applied. For an app that is connected already, it changes the details that are given.',
  'apps remove':
    'Stored data and metrics stay. New notifications for the app wait for seven days, in case you connect it again.',
  'apps list':
    'Shows each organization with its apps, and the apps that are not connected and for which notifications wait.',
  'apps refresh':
    'Asks App Store Connect with your key, connects new apps and stores new names. The job of the daily reports does the same every hour.',
  'owner reset':
    'For a forgotten password or a lost phone. The link works once and expires soon. API tokens, keys and share links stay valid.',
  'keys create':
    'A publishable key is for apps: it writes and cannot read. A secret key is for your backend, and its calls count as proved. A secret key is shown only once.',
  'keys list':
    'A secret key is shown by its last four characters. A key that was rotated or revoked is listed with its end.',
  'keys rotate':
    'Creates a key with the same rights. Both work until the old one ends, so that you can change your backend or release your app in between.',
  'keys revoke':
    'Calls with the key are refused from now on. An app that is installed with the key keeps failing: rotate the key instead, unless it has leaked.',
  'tokens create':
    'A read token reads the API and cannot write. It can be limited to an organization or to some apps, and can expire.',
  'tokens list': 'Shows what each token reads, when it was last used, and whether it is revoked or expires.',
  'tokens revoke': 'Calls with the token are refused from now on, and its open streams end.',
  'devices list':
    'A device is a copy of an app that enrolled with App Attest. The list shows what Apple states about it and how many users its calls named.',
  'devices revoke':
    'Calls with the token count as calls without a credential from now on. The app on the device cannot enrol with the same key again; a new installation can.',
  'devices require':
    'For use while strangers flood the server with calls. Calls of attested devices and with the secret key are accepted; all others get 429 attested_only, which SDKs repeat later. It ends by itself after 24 hours.',
  'users prune':
    'Deletes users without a purchase that no secret key and no attested device ever named, and that have not been seen for the given time. Such users come from calls that anyone can make. Nothing else is deleted.',
  'links import':
    'Reads Windfall’s own columns, or an export of RevenueCat or Adapty. Rows that were imported are skipped when the command runs again, so an interrupted import continues. It sends no webhooks and does not count against the limit of SDK calls.',
  forget:
    'Erases one user of one app: attributes, device, links, and the id in events. Later calls for the id are refused. Purchases and metrics stay, without the user. An erasure cannot be undone; earlier backups still have the user.',
  import:
    'Fetches the sales reports of the last year that are missing, with your App Store Connect key, and shows the progress. The job import does the same every hour; an import that is running is followed instead.',
  reconcile:
    'Asks Apple for the notifications that it sent since a time, with your In-App Purchase key, and stores those that did not arrive. The job reconcile does the same every 15 minutes; Apple keeps 180 days.',
  'refused list':
    'A refused notification was not signed by Apple, is for another bundle id, or is damaged. It is stored as it came and counted nowhere.',
  'rebuild metrics':
    'Recomputes all metrics from Apple’s signed facts. The dashboard shows the previous figures until the new ones are complete. Needed only if windfall verify finds a difference.',
  verify:
    'Recomputes all metrics from Apple’s signed facts and compares them with the stored ones. With FILE, it verifies a backup: it decrypts it to a temporary folder and changes nothing.',
  'jobs list': 'Shows when each job ran, how it ended, and when it runs next.',
  'jobs run': 'The command ends with exit code 1 if the job fails, and prints the reason.',
  export:
    'Writes each table in pages, while the server runs, and a manifest with the cursor of the next export. With --after, only changed and deleted rows are written, for up to 30 days. The files contain user ids and attributes, and are readable only by you. The tables are in docs/export.md.',
  sql: 'Reads the views of docs/export.md, in a process that can read nothing else and write nothing. A query ends after 30 seconds, 100,000 rows or 512 MiB. The server can run meanwhile.',
  'rates list':
    'Amounts are converted at the rate of their day. A currency without a rate on a day is converted at the previous rate for a while, then counts as unknown.',
  'rates show':
    'Shows each day with its rate, as units of the currency for one dollar, and where the rate is from.',
  'rates import':
    'For a machine without access to the internet. The CSV file has the header date,currency,rate. A rate is the price of one unit of the base: 0.86 for EUR means 1 USD = 0.86 EUR. A rate that differs from a stored one is reported and not changed.',
  'rates remove':
    'Only rates that windfall rates import stored can be removed. Amounts that were converted at the rate are converted again.',
  backup:
    'Writes one file while the server serves, and verifies it. The file has everything that a restore needs: the database, the configuration and the key files. Encrypt it: anyone who has it can read your keys.',
  'backup list':
    'Lists the backups that the schedule made: those in the folder, or with --remote those in the bucket, which it asks now. windfall restore takes their paths and their URLs.',
  restore:
    'Verifies the backup and puts the database, the configuration and the key files in place, without a running server. An existing database is moved aside, and so is a config file that sets nothing but what init or install wrote. Outgoing requests are held after a restore, until windfall outgoing resume. From a bucket, it fetches the backup first: the key is in [backup], or in WINDFALL_BACKUP_ACCESS_KEY_ID and WINDFALL_BACKUP_SECRET_ACCESS_KEY.',
  'alerts test':
    'Sends a test message to one channel or to all, whatever the quiet hours and the mute are. Prints what each provider answered, in words.',
  'alerts log':
    'Lists the newest messages, oldest first, with the rule, the channel and the state. The last column says why a message waits, was not sent, or is part of a summary.',
  'alerts mute':
    'Sends no message of an organization for a while. What happens meanwhile is one summary afterwards. `off` ends the mute, also before its time.',
  'webhooks add':
    'Creates an endpoint, prints its signing secret once, sends a test event and says whether the URL answers. The endpoint stays, also if the URL does not answer yet.',
  'webhooks list':
    'Shows the state of each endpoint, its success rate of the last seven days, how many events wait for it, and how many deliveries were given up and neither sent again nor dismissed since.',
  'webhooks test':
    'Sends an example event, marked as a test and with dates of now, and prints the answer of the URL. It names an app and a product of yours, if there are any. The command ends with exit code 1 unless the answer is a 2xx.',
  'webhooks pause':
    'Nothing is sent to the endpoint. Events wait until it is resumed and are then sent in order.',
  'webhooks resume':
    'For an endpoint that you paused or that was disabled after failures. If events wait, choose whether they are sent.',
  'webhooks rotate':
    'For a secret that is old or has leaked. Each request has two signatures, one with each secret, until the earlier secret ends.',
  'webhooks remove':
    'Events that wait for the endpoint are dropped. Its log stays for as long as [forwarding] keeps deliveries.',
  'webhooks replay':
    'Counts the events of your selection, asks, and sends them again with their ids, so that a backend that keeps ids stores none twice. It follows the replay until all events are sent; Ctrl-C leaves it running.',
  'webhooks dismiss':
    'For deliveries that were given up after ten attempts and need not be sent again. They are no longer reported, and webhooks replay --failed leaves them out. The log keeps them.',
  'webhooks retry':
    'After a repair: events that wait for a later attempt are sent at once, also if the receiver asked to wait. These attempts use up none of the ten. An endpoint that is failing is tried at once. With --delivery, only one delivery is tried, also one that was given up.',
  'webhooks log':
    'Shows the newest deliveries with the last answer of the URL. With --id, it shows one delivery with every attempt, the request headers and the body.',
  'webhooks listen':
    'A receiver for trying webhooks on this machine. It verifies the signature of each delivery, prints a line and answers with the status that you choose.',
  'outgoing status':
    'Requests to your own addresses are held after a restore or a copy, because the original may still send. Secrets such as those of webhooks are sealed with a key in a file beside the database.',
  'outgoing resume':
    'Run it when the original no longer serves. If the original has sent what waits, skip it with --from-head.',
  'outgoing new-key':
    'For a lost windfall.key. Secrets that were sealed with the lost key cannot be read again: rotate the secrets of your endpoints, and set up the authenticator app again.',
  completion:
    'Completes commands, options and file names. For bash, write the script to /etc/bash_completion.d/windfall; for zsh, to a file _windfall in a folder of $fpath; for fish, to ~/.config/fish/completions/windfall.fish.',
  licenses: 'The executable and the bundle contain these packages; their licences require this text.',
}
