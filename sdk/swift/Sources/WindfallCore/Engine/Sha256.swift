import Foundation

private let roundConstants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
]

/// SHA-256, because Foundation has none on every platform.
func sha256(_ data: Data) -> Data {
    var hash: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    var words = [UInt32](repeating: 0, count: (data.count + 72) / 64 * 16)
    var at = 0
    for byte in data {
        words[at / 4] |= UInt32(byte) << UInt32(24 - at % 4 * 8)
        at += 1
    }
    words[at / 4] |= 0x80 << UInt32(24 - at % 4 * 8)
    words[words.count - 2] = UInt32(truncatingIfNeeded: data.count >> 29)
    words[words.count - 1] = UInt32(truncatingIfNeeded: data.count << 3)
    var start = 0
    while start < words.count {
        mix(words, start, into: &hash)
        start += 16
    }
    var bytes = Data()
    for word in hash {
        for shift: UInt32 in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    return bytes
}

/// Mixes 16 words, from `start`, into the hash.
private func mix(_ all: [UInt32], _ start: Int, into hash: inout [UInt32]) {
    var words = [UInt32](repeating: 0, count: 64)
    for at in 0..<16 { words[at] = all[start + at] }
    for at in 16..<64 {
        let early = turned(words[at - 15], 7) ^ turned(words[at - 15], 18) ^ words[at - 15] >> 3
        let late = turned(words[at - 2], 17) ^ turned(words[at - 2], 19) ^ words[at - 2] >> 10
        words[at] = words[at - 16] &+ early &+ words[at - 7] &+ late
    }
    var round = hash
    for at in 0..<64 {
        let e = round[4]
        let choice = (e & round[5]) ^ (~e & round[6])
        let first = round[7] &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ choice
            &+ roundConstants[at] &+ words[at]
        let a = round[0]
        let majority = (a & round[1]) ^ (a & round[2]) ^ (round[1] & round[2])
        for place in 0..<7 { round[7 - place] = round[6 - place] }
        round[4] = round[4] &+ first
        round[0] = first &+ (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ majority
    }
    for at in 0..<8 { hash[at] = hash[at] &+ round[at] }
}

private func turned(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }
