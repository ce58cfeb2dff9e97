/** The AAR, which `npm run test:android` builds first, has what Android's build tools read and nothing else. */
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { at } from '../../tools/bundle.mjs'
import { temporaryFolder } from '../folders.ts'

const AAR = at('sdk/android/target/windfall-android.aar')
const METADATA = 'META-INF/com/android/build/gradle/aar-metadata.properties'

/** Files in a ZIP file; the JDK is there for Maven. */
const filesIn = (path: string): string[] =>
  execFileSync('jar', ['--list', '--file', path], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name !== '' && !name.endsWith('/'))
    .sort()

function open(): { path: (name: string) => string; text: (name: string) => string } {
  const folder = temporaryFolder().path
  execFileSync('jar', ['--extract', '--file', AAR], { cwd: folder })
  const path = (name: string) => join(folder, name)
  return { path, text: (name) => readFileSync(path(name), 'utf8') }
}

test('the AAR has exactly these files', () => {
  expect(filesIn(AAR)).toEqual(['AndroidManifest.xml', METADATA, 'R.txt', 'classes.jar', 'proguard.txt'])
})

test('the AAR has at most 60 kB', () => {
  expect(statSync(AAR).size).toBeLessThanOrEqual(60_000)
})

test('classes.jar has the classes of the SDK, with the names of the public ones', () => {
  const files = filesIn(open().path('classes.jar'))
  for (const name of ['Windfall', 'DebugState', 'DebugState$Waiting', 'RefusedPurchase'])
    expect(files).toContain(`dev/windfall/${name}.class`)
  expect(files.filter((name) => !/^dev\/windfall\/.*\.class$/.test(name))).toEqual([])
})

test('the classes run on Java 8, which every Android takes', () => {
  const jar = open()
  execFileSync('jar', ['--extract', '--file', 'classes.jar'], { cwd: jar.path('.') })
  expect(readFileSync(jar.path('dev/windfall/Windfall.class')).readUInt16BE(6)).toBe(52)
})

test('the manifest asks for the network and Android 7', () => {
  const manifest = open().text('AndroidManifest.xml')
  const permissions = [...manifest.matchAll(/<uses-permission android:name="(.*?)"/g)].map(([, name]) => name)
  expect(permissions).toEqual(['android.permission.INTERNET', 'android.permission.ACCESS_NETWORK_STATE'])
  expect(manifest).toContain('package="dev.windfall"')
  expect(manifest).toContain('android:minSdkVersion="24"')
})

test('the metadata lets an app of any Android from 7 on compile', () => {
  const aar = open()
  expect(aar.text(METADATA)).toBe('aarFormatVersion=1.0\naarMetadataVersion=1.0\nminCompileSdk=24\n')
})

test('the AAR has no resources, and the rules for R8', () => {
  const aar = open()
  expect(aar.text('R.txt')).toBe('')
  expect(aar.text('proguard.txt')).toBe(readFileSync(at('sdk/android/src/main/consumer-rules.pro'), 'utf8'))
})
