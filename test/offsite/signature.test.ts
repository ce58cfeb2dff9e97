/** Amazon's own examples (Authenticating Requests, Using the Authorization Header), for the counterpart in the tests. */
import { expect, test } from 'vitest'
import { parseAuthorization, signatureOf } from './signature.ts'

const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const COMMON = {
  host: 'examplebucket.s3.amazonaws.com',
  'x-amz-date': '20130524T000000Z',
  'x-amz-content-sha256': EMPTY,
}

test.each([
  [
    '/test.txt',
    { range: 'bytes=0-9' },
    'host;range;x-amz-content-sha256;x-amz-date',
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    '/?lifecycle',
    {},
    'host;x-amz-content-sha256;x-amz-date',
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    '/?max-keys=2&prefix=J',
    {},
    'host;x-amz-content-sha256;x-amz-date',
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
])('the counterpart signs %s as Amazon does', (target, headers, names, signature) => {
  const header = `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`
  const parsed = parseAuthorization(header)
  expect(parsed).toMatchObject({ id: 'AKIAIOSFODNN7EXAMPLE', region: 'us-east-1' })
  const request = { method: 'GET', target, headers: { ...COMMON, ...headers } }
  expect(parsed && signatureOf(request, parsed, SECRET)).toBe(signature)
})
