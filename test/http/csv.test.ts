import { expect, test } from 'vitest'
import { csvHeader, csvLine, csvRow, decimalText } from '../../src/http/csv.ts'

test.each([
  [[null, undefined, '', true, -1.5], ',,,true,-1.5'],
  [['a,b', 'say "a"', 'two\nlines'], '"a,b","say ""a""","two\nlines"'],
  [['=1+1', '+1', '-2+3', '@SUM', '\tx', '-', '-x'], "'=1+1,'+1,'-2+3,'@SUM,'\tx,'-,'-x"],
  [['＝1+1', '＋1', '－1', '＠SUM', '\n=1'], "'＝1+1,'＋1,'－1,'＠SUM,\"'\n'=1\""],
  // A spreadsheet whose decimal separator is the comma begins a cell after a semicolon, and a row after a line break.
  [
    ["x;=cmd|'/c'!A0", 'a;b', 'x\n@SUM', 'x;-1;2', 'two\r\nlines;'],
    "x;'=cmd|'/c'!A0,a;b,\"x\n'@SUM\",x;'-1;2,\"two\r\nlines;\"",
  ],
  // A number is no formula, whatever its sign.
  [['-12.000', '-7', '0.5', '-1.2.3', '--1'], "-12.000,-7,0.5,'-1.2.3,'--1"],
  [[['a', 'b'], ['=x']], "a b,'=x"],
])('%j is written as %s', (values, line) => {
  expect(csvLine(values)).toBe(`${line}\r\n`)
})

test('writes money as a decimal number and an instant as ISO 8601', () => {
  const columns = ['id', 'ltv_milli', 'seen_at', 'proceeds_milli', 'count']
  expect(csvHeader(columns)).toBe('id,ltv,seen_at,proceeds,count\r\n')
  expect(csvRow(columns, { id: 'x', ltv_milli: -12_005, seen_at: 0, proceeds_milli: null, count: 3 })).toBe(
    'x,-12.005,1970-01-01T00:00:00.000Z,,3\r\n',
  )
  expect([0, 5, -5, 1_000, -9_007_199_254_740_991].map(decimalText)).toEqual([
    '0.000',
    '0.005',
    '-0.005',
    '1.000',
    '-9007199254740.991',
  ])
})
