//! How much of an answer comes: all of it, or what is left of it where something goes wrong on its way.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use hyper::body::{Body, Bytes, Frame, SizeHint};

/// The part of an answer that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// All of it.
    Whole,
    /// Nothing: its connection is closed before it.
    Nothing,
    /// Its first half, and then the end of its connection.
    Cut,
    /// Its first half, as if that were all.
    Half,
}

/// Answer that does not come, or not to its end: its connection is closed instead.
#[derive(Debug)]
pub(crate) struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer is lost")
    }
}

impl std::error::Error for Lost {}

/// Text of an answer, as it is sent.
#[derive(Debug)]
pub(crate) struct Sent {
    bytes: Option<Bytes>,
    end: End,
}

/// What comes after the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The end of the answer.
    Whole,
    /// The end of the connection, once what was sent before it is on its way.
    CutLater,
    /// The end of the connection.
    Cut,
}

impl Sending {
    /// An answer with so much of its text.
    pub(crate) fn of(self, answer: Response<Bytes>) -> Result<Response<Sent>, Lost> {
        if self == Self::Nothing {
            return Err(Lost);
        }
        Ok(answer.map(|text| {
            let length = match self {
                Self::Cut | Self::Half => text.len() / 2,
                Self::Whole | Self::Nothing => text.len(),
            };
            let bytes = Some(text.slice(..length)).filter(|text| !text.is_empty());
            let end = match self {
                Self::Cut => End::CutLater,
                _ => End::Whole,
            };
            Sent { bytes, end }
        }))
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Lost;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Lost>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match self.end {
            End::Whole => Poll::Ready(None),
            End::CutLater => {
                self.end = End::Cut;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            End::Cut => Poll::Ready(Some(Err(Lost))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && self.end == End::Whole
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.bytes, self.end) {
            (Some(bytes), End::Whole) => {
                SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
            }
            (None, End::Whole) => SizeHint::with_exact(0),
            _ => SizeHint::default(),
        }
    }
}
