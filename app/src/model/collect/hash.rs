//! FNV-1a, 64 bit: the same in every process and version, since what it gives is stored.

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A hash of texts, some of which may be missing.
pub fn hash<'a>(parts: impl IntoIterator<Item = Option<&'a str>>) -> u64 {
    let bytes = parts.into_iter().flat_map(|part| {
        // No text holds these two bytes.
        let begin = [0xff, u8::from(part.is_some()) | 0xfe];
        begin.into_iter().chain(part.unwrap_or_default().bytes())
    });
    bytes.fold(BASIS, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}
