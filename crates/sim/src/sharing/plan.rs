//! The block sizes of the study, checked before the trace is read.

use homenode_analysis::sharing::SharingQuestions;
use homenode_base::BlockSize;

use super::config::SharingConfig;
use crate::error::SimError;
use crate::placement::MatrixPlan;

/// Largest block size of the study: two huge pages.
const BLOCK_BYTES_MAX: u64 = 4 << 20;

/// The checked block sizes, including that of the details.
pub(super) fn questions(
    config: &SharingConfig,
    plan: &MatrixPlan,
) -> Result<SharingQuestions, SimError> {
    if config.merge_transfers == 0 {
        let problem = "a merge cannot be free, as it moves data: charge at least 1 block move \
                       (--merge)";
        return Err(SimError::Config { problem: problem.to_owned() });
    }
    let sizes: Vec<BlockSize> = plan.sizes.iter().map(|size| size.block).collect();
    let detail = config.detail.map(BlockSize::new).transpose()?;
    for size in sizes.iter().chain(&detail) {
        if size.bytes() > BLOCK_BYTES_MAX {
            let problem = format!(
                "block size {}: sharing is looked for in blocks of at most {BLOCK_BYTES_MAX} \
                 bytes; choose smaller ones with --block-size",
                size.bytes()
            );
            return Err(SimError::Config { problem });
        }
    }
    if let Some(size) = detail.filter(|size| !sizes.contains(size)) {
        let problem = format!(
            "block size {} for details is none of those simulated; add it to --block-size",
            size.bytes()
        );
        return Err(SimError::Config { problem });
    }
    let (merge_transfers, count) = (config.merge_transfers, config.count);
    Ok(SharingQuestions { sizes, merge_transfers, detail, count })
}
